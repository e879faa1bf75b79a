import { Type } from 'typebox';
import { findSchedule } from '../../db/schedules.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import { localTime } from '../../domain/local-time.js';
import { nextRunsAfter, type PlanInput, createPlan } from '../../domain/plan.js';
import { readPreviewBody } from '../../domain/validate-schedule.js';
import type { ApiContext } from '../context.js';
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

function toNextRuns({ clock }: ApiContext, schedule: PlanInput, count: number): NextRuns {
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

/** Lists the next runs: none for a schedule that is paused or has finished. @returns undefined without a schedule. */
export async function listNextRuns(
  ctx: ApiContext,
  key: InstanceKey,
  count: number,
): Promise<NextRuns | undefined> {
  const { pool } = ctx;
  const schedule = await findSchedule(pool, key);
  return schedule && toNextRuns(ctx, schedule, schedule.state === 'active' ? count : 0);
}

/** Lists the runs that an unsaved configuration would have. @throws AppError 400. */
export function previewSchedule(ctx: ApiContext, key: InstanceKey, body: unknown, count: number): NextRuns {
  const { clock } = ctx;
  const read = readPreviewBody(body, clock());
  if ('faults' in read) throw invalidSchedule(read.faults);
  return toNextRuns(ctx, { ...key, config: read.config, anchorAt: new Date(clock()) }, count);
}
