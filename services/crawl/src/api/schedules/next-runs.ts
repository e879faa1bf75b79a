import type { Clock } from '@platform/service-kit';
import { Type } from 'typebox';
import type pg from 'pg';
import { findSchedule } from '../../db/schedules.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import { localTime } from '../../domain/local-time.js';
import { nextRunsAfter, type PlanInput, createPlan } from '../../domain/plan.js';
import { readPreviewBody } from '../../domain/validate-schedule.js';
import { invalidSchedule } from './errors.js';

export const NextRuns = Type.Object(
  {
    connector: Type.String(),
    timezone: Type.String(),
    nextRuns: Type.Array(
      Type.Object({
        at: Type.String({ format: 'date-time', description: 'UTC.' }),
        localTime: Type.String({ description: "In the schedule's zone, with its offset." }),
      }),
    ),
  },
  { title: 'NextRuns' },
);
export type NextRuns = Type.Static<typeof NextRuns>;

export const NextRunsQuery = Type.Object(
  { count: Type.Integer({ minimum: 1, maximum: 50, default: 10 }) },
  { additionalProperties: false },
);

export function createNextRunsService({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }) {
  function toNextRuns(schedule: PlanInput, count: number): NextRuns {
    const { connector, config } = schedule;
    const times = nextRunsAfter(createPlan(schedule), clock(), count);
    return {
      connector,
      timezone: config.timezone,
      nextRuns: times.map((at) => ({
        at: new Date(at).toISOString(),
        localTime: localTime(at, config.timezone),
      })),
    };
  }
  return {
    /** Lists the next runs: none for a schedule that is paused or has finished. @returns undefined without a schedule. */
    async list(key: InstanceKey, count: number): Promise<NextRuns | undefined> {
      const schedule = await findSchedule(pool, key);
      return schedule && toNextRuns(schedule, schedule.state === 'active' ? count : 0);
    },

    /** Lists the runs that an unsaved configuration would have. @throws AppError 400. */
    preview(key: InstanceKey, body: unknown, count: number): NextRuns {
      const read = readPreviewBody(body, clock());
      if ('faults' in read) throw invalidSchedule(read.faults);
      return toNextRuns({ ...key, config: read.config, anchorAt: new Date(clock()) }, count);
    },
  };
}

export type NextRunsService = ReturnType<typeof createNextRunsService>;
