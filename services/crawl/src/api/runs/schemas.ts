import { ListQuery } from '@platform/service-kit';
import { Type } from 'typebox';
import {
  type RunMode,
  runModes,
  type RunState,
  runStates,
  type RunTrigger,
  runTriggers,
} from '../../domain/run-state.js';
import { RUN_WORKER, type RunWorker, runWorkers } from '../../domain/run-worker.js';
import { SyncEvent } from '../events/schemas.js';

const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

const Outcome = Type.Unsafe<RunState>({ enum: [...runStates] });

export const RunItem = Type.Object(
  {
    runId: Type.String({ format: 'uuid' }),
    connector: Type.String(),
    instance: Type.String(),
    trigger: Type.Unsafe<RunTrigger>({
      enum: [...runTriggers],
      description:
        '`missed`: a run of the schedule that was not made at its time. `hook`: the source asked for it.',
    }),
    outcome: Outcome,
    scheduledFor: Instant,
    startedAt: NullableInstant,
    finishedAt: NullableInstant,
    attempts: Type.Integer(),
    progress: Type.Integer(),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why it failed, was aborted or skipped, or what it waits for.',
    }),
    eventId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    worker: Type.Unsafe<RunWorker>({ enum: [...runWorkers], description: RUN_WORKER }),
    mode: Type.Unsafe<RunMode>({ enum: [...runModes] }),
    slices: Type.Integer({ description: 'How many slices have ended.' }),
    items: Type.Integer(),
    deleted: Type.Integer(),
    failed: Type.Integer({ description: 'Items that could not be crawled.' }),
    bytes: Type.Integer(),
    requestedBy: Type.Union(
      [Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()],
      { description: 'Who asked for the run; null for one of the schedule.' },
    ),
    waitingSince: Type.Union([Instant, Type.Null()], {
      description: 'Since when its endpoint has been unavailable.',
    }),
    claimedBy: Type.Union([Type.String(), Type.Null()], {
      description: 'The worker that claimed it last, if a worker pulls.',
    }),
    claimedAt: NullableInstant,
    leaseUntil: NullableInstant,
  },
  { title: 'CrawlRun' },
);
export type RunItem = Type.Static<typeof RunItem>;

/** The body may be left out. */
export const RunRequest = Type.Union([
  Type.Object(
    {
      mode: Type.Optional(
        Type.Unsafe<RunMode>({
          enum: [...runModes],
          description: '`full` starts from nothing. Default: as the schedule says.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Null(),
]);

export const RequestedRun = Type.Object(
  { runId: Type.String({ format: 'uuid' }), connector: Type.String(), requestedAt: Instant },
  { title: 'RequestedRun' },
);
export type RequestedRun = Type.Static<typeof RequestedRun>;

const Attempt = Type.Object(
  {
    slice: Type.Integer({ description: 'The slice that it was for, from 1; a run without slices is one.' }),
    number: Type.Integer({ description: 'Counted from 1 in each slice.' }),
    outcome: Outcome,
    startedAt: NullableInstant,
    endedAt: NullableInstant,
    reason: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'CrawlAttempt' },
);
export type Attempt = Type.Static<typeof Attempt>;

export const RunDetail = Type.Object(
  {
    ...RunItem.properties,
    requestedAt: Type.String({ format: 'date-time', description: 'When the run was created.' }),
    maxAttempts: Type.Integer(),
    endpoint: Type.Union(
      [Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()],
      {
        description:
          'The endpoint of the organisation that does the work, by its description or else its address; null without one, and once it is removed.',
      },
    ),
    attemptLog: Type.Array(Attempt, {
      description:
        'The newest attempts, at most 201, oldest first, including the current one. An attempt that did its slice is `completed`.',
    }),
    log: Type.Array(Type.Object({ at: Type.String({ format: 'date-time' }), message: Type.String() }), {
      description: 'What the worker logged, oldest first.',
    }),
    event: Type.Union([SyncEvent, Type.Null()], {
      description: 'The sync event of the run; null when it has none, or no longer.',
    }),
  },
  { title: 'CrawlRunDetail' },
);
export type RunDetail = Type.Static<typeof RunDetail>;

export const runParams = { runId: Type.String({ format: 'uuid' }) };

export const RunsQuery = Type.Object(
  {
    ...ListQuery.properties,
    outcome: Type.Optional(Outcome),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'Part of the reason, of the name of who asked for the run or of the worker that claimed it, or of the description or address of its endpoint, in any case; or the id of a run.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type RunsQuery = Type.Static<typeof RunsQuery>;
