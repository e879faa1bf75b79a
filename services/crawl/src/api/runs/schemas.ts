import { Type } from 'typebox';
import { type RunState, runStates, type RunTrigger } from '../../domain/run-state.js';

const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

export const RunItem = Type.Object(
  {
    runId: Type.String({ format: 'uuid' }),
    connector: Type.String(),
    trigger: Type.Unsafe<RunTrigger>({
      enum: ['schedule', 'manual', 'missed'],
      description: '`missed`: run late by the watchdog, in place of a run that did not happen.',
    }),
    outcome: Type.Unsafe<RunState>({ enum: [...runStates] }),
    scheduledFor: Instant,
    startedAt: NullableInstant,
    finishedAt: NullableInstant,
    attempts: Type.Integer(),
    progress: Type.Integer(),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why it failed, was aborted or skipped, or what it waits for.',
    }),
    eventId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
  },
  { title: 'CrawlRun' },
);
export type RunItem = Type.Static<typeof RunItem>;

export const RequestedRun = Type.Object(
  { runId: Type.String({ format: 'uuid' }), connector: Type.String(), requestedAt: Instant },
  { title: 'RequestedRun' },
);
export type RequestedRun = Type.Static<typeof RequestedRun>;
