import { Type } from 'typebox';
import { type JobState, jobStates } from '../schedules/status-item.js';

const Instant = Type.String({ format: 'date-time' });

const QueuedConnector = Type.Object(
  {
    connector: Type.String(),
    instance: Type.String(),
    displayName: Type.Union([Type.String(), Type.Null()]),
    state: Type.Unsafe<JobState>({ enum: [...jobStates] }),
    waitingSince: Type.Union([Instant, Type.Null()], {
      description: 'Since when a run has been due or requested, and no worker has claimed it.',
    }),
    reason: Type.Union([Type.String(), Type.Null()]),
    completed: Type.Integer({ description: 'Runs that completed in the last hour.' }),
    failed: Type.Integer({ description: 'Runs that failed in the last hour.' }),
    aborted: Type.Integer({ description: 'Runs that were aborted in the last hour.' }),
  },
  { title: 'QueuedConnector' },
);
export type QueuedConnector = Type.Static<typeof QueuedConnector>;

export const QueueView = Type.Object(
  {
    connectors: Type.Array(QueuedConnector),
    lastHour: Type.Array(
      Type.Object({
        from: Instant,
        completed: Type.Integer(),
        failed: Type.Integer(),
        aborted: Type.Integer(),
      }),
      { description: 'Runs that ended, in steps of two minutes, oldest first.' },
    ),
  },
  { title: 'CrawlQueue' },
);
export type QueueView = Type.Static<typeof QueueView>;
