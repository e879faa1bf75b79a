import { connectors } from '@platform/events';
import { givenInstant } from '@platform/service-kit';
import { Type } from 'typebox';
import { ScheduleConfig } from '../../domain/schedule-config.js';
import { type RunMode, runModes, type RunState, runStates } from '../../domain/run-state.js';
import { documentedConnector, InstanceSlug } from '../params.js';

const Instant = Type.String({ format: 'date-time' });
const MAX_WAIT_MS = 30_000;
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

const Count = Type.Integer({ minimum: 0, maximum: MAX_COUNT });
/** The counters of the slice so far. */
const SliceCounters = Type.Object(
  {
    items: Type.Optional(Count),
    deleted: Type.Optional(Count),
    failed: Type.Optional(Count),
    bytes: Type.Optional(Count),
  },
  { additionalProperties: false, description: 'Of this slice so far, not since the last report.' },
);
const Checkpoint = Type.Unknown({
  description:
    'Any JSON value but null, at most 64 KiB: what the next slice goes on from. An endpoint has no slices, and leaves it out.',
  'x-documented': { not: { const: null } },
});
/** What members read about a source. The documents themselves stay with the worker and the search. */
const SourceReport = Type.Object(
  {
    description: Type.String({
      minLength: 1,
      maxLength: 300,
      format: 'display-name',
      description:
        'What is crawled, for the members who search it: the folder, site, repository or account. It must not contain secrets.',
    }),
    documents: Type.Optional({ ...Count, description: 'How many documents the source has.' }),
    oldestAt: Type.Optional(
      Type.String({ ...givenInstant, description: 'When the oldest of them was changed.' }),
    ),
    newestAt: Type.Optional(
      Type.String({ ...givenInstant, description: 'When the newest of them was changed.' }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Describes the source, kept until another description comes. One report of a run is enough.',
  },
);
export type SourceReport = Type.Static<typeof SourceReport>;
const Lease = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The `lease` of the claim, sent with the credential that claimed.',
});

export const ClaimBody = Type.Object(
  {
    connectors: Type.Array(Type.String({ maxLength: 100, 'x-documented': documentedConnector }), {
      minItems: 1,
      maxItems: connectors.length,
    }),
    instances: Type.Optional(
      Type.Array(InstanceSlug, {
        minItems: 1,
        maxItems: 100,
        description: 'Runs of these instances alone. Default: of all.',
      }),
    ),
    worker: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A name of the worker, which is shown.',
    }),
    waitMs: Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_MS,
      default: 0,
      description: 'How long to wait for a run when none is due.',
    }),
  },
  { additionalProperties: false },
);
export type ClaimBody = Type.Static<typeof ClaimBody>;

export const WorkOrder = Type.Object(
  {
    runId: Type.String({ format: 'uuid' }),
    attempt: Type.Integer(),
    orgId: Type.String(),
    connector: Type.String(),
    instance: Type.String({
      description: 'Which of the connectors of this type; `default` if there is one.',
    }),
    displayName: Type.Union([Type.String(), Type.Null()], { description: 'What the instance is called.' }),
    userId: Type.String(),
    scheduleConfig: ScheduleConfig,
    priority: Type.Integer(),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    scheduledFor: Instant,
    mode: Type.Unsafe<RunMode>({ enum: [...runModes] }),
    fullStartedAt: Type.Union([Instant, Type.Null()], {
      description: 'When the full crawl started that this is part of, or the last one.',
    }),
    checkpoint: Type.Unknown({ description: 'What the last slice left; null when there is none.' }),
  },
  { title: 'WorkOrder' },
);
export type WorkOrder = Type.Static<typeof WorkOrder>;

export const ClaimedWork = Type.Object(
  {
    order: WorkOrder,
    lease: Type.String({
      description: 'A secret that proves this claim in heartbeat and finish, with the same credential.',
    }),
    leaseUntil: Instant,
    deadline: Type.String({ format: 'date-time', description: 'When the slice has to be finished.' }),
  },
  { title: 'ClaimedWork' },
);
export type ClaimedWork = Type.Static<typeof ClaimedWork>;

export const WorkPath = Type.Object({ runId: Type.String({ format: 'uuid' }) });

export const HeartbeatBody = Type.Object(
  {
    lease: Lease,
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    checkpoint: Type.Optional(Checkpoint),
    counters: Type.Optional(SliceCounters),
    log: Type.Optional(
      Type.Array(Type.String({ maxLength: 1_024 }), {
        maxItems: 100,
        description: 'Lines for the page of the run, which keeps 1,000. They must not contain secrets.',
      }),
    ),
    source: Type.Optional(SourceReport),
  },
  { additionalProperties: false },
);
export type HeartbeatBody = Type.Static<typeof HeartbeatBody>;

export const HeartbeatResult = Type.Object(
  {
    leaseUntil: Instant,
    cancelled: Type.Boolean({
      description: 'The run was paused, removed or cancelled: stop, and report nothing.',
    }),
  },
  { title: 'WorkLease' },
);
export type HeartbeatResult = Type.Static<typeof HeartbeatResult>;

export const sliceStates = ['completed', 'continue', 'failed', 'released'] as const;
export type SliceState = (typeof sliceStates)[number];

export const FinishBody = Type.Object(
  {
    ...HeartbeatBody.properties,
    state: Type.Unsafe<SliceState>({
      enum: [...sliceStates],
      description:
        '`completed`: all is crawled. `continue`: more slices follow; the checkpoint must have changed, and an endpoint has none. `failed`: tried again while attempts are left. `released`: another worker goes on, and the attempt does not count.',
    }),
    reason: Type.Optional(Type.String({ maxLength: 2_000 })),
    retry: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'With `failed`. `false`: the next attempt would fail the same way, as with a wrong password, so the run ends.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type FinishBody = Type.Static<typeof FinishBody>;

export const FinishResult = Type.Object(
  {
    state: Type.Unsafe<RunState>({
      enum: [...runStates],
      description: 'The state of the run after the slice.',
    }),
  },
  { title: 'FinishedWork' },
);
export type FinishResult = Type.Static<typeof FinishResult>;
