import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { createPlan, nextRunAfter } from '../domain/plan.js';
import type { Schedule } from '../domain/schedule.js';
import { insertTicks } from './dispatch.js';
import { resumeSchedule } from './schedules.js';
import { inTransaction } from './transaction.js';

/** Resumes a one-off schedule whose time passed while it was paused and whose policy is to skip a missed run. */
const resumeLate = (pool: pg.Pool, paused: Schedule, now: number): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const at = new Date(now);
    if (!(await resumeSchedule(tx, paused, at))) return false;
    const skipReason = 'Missed: the schedule was paused when it was due';
    const tick = { runId: uuidv7(), scheduleId: paused.id, nextRunAt: null, skipReason, isMissed: false };
    await insertTicks(tx, [tick], at);
    return true;
  });

/**
 * Resumes a paused schedule from its first time after `after` on; an overdue one-off is due at once.
 *
 * @returns whether it was still paused.
 */
export async function resumePaused(
  pool: pg.Pool,
  paused: Schedule,
  { after, now }: { readonly after: number; readonly now: number },
): Promise<boolean> {
  const next = nextRunAfter(createPlan(paused), after);
  if (next === undefined && paused.config.missedRunPolicy === 'skip') return resumeLate(pool, paused, now);
  return (await resumeSchedule(pool, paused, new Date(next ?? now))) !== undefined;
}
