import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Act } from '../domain/act.js';
import { createPlan, nextRunAfter } from '../domain/plan.js';
import type { Schedule } from '../domain/schedule.js';
import { insertTicks } from './dispatch.js';
import { resumeSchedule } from './schedules.js';

/** Resumes a one-off schedule whose time passed while it was paused and whose policy is to skip a missed run. */
const resumeLate = (
  pool: pg.Pool,
  paused: Schedule,
  now: number,
  act: Act | null,
): Promise<Date | undefined> =>
  inTransaction(pool, async (tx) => {
    const at = new Date(now);
    if (!(await resumeSchedule(tx, paused, at, act))) return undefined;
    const skipReason = 'Missed: the schedule was paused when it was due';
    const tick = { runId: uuidv7(), scheduleId: paused.id, nextRunAt: null, skipReason, isMissed: false };
    await insertTicks(tx, [tick], at);
    return at;
  });

/**
 * Resumes a paused schedule from its first time after `after` on; an overdue one-off is due at once.
 *
 * @returns when it runs next; undefined when it was no longer paused.
 */
export async function resumePaused(
  pool: pg.Pool,
  paused: Schedule,
  { after, now, act }: { readonly after: number; readonly now: number; readonly act: Act | null },
): Promise<Date | undefined> {
  const next = nextRunAfter(createPlan(paused), after);
  if (next === undefined && paused.config.missedRunPolicy === 'skip')
    return resumeLate(pool, paused, now, act);
  const nextRunAt = new Date(next ?? now);
  return (await resumeSchedule(pool, paused, nextRunAt, act)) && nextRunAt;
}
