import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import type { RunKey } from '../domain/instance-key.js';
import { cancelTasksOf } from './claimed-runs.js';
import { auditedInstance, insertAudit, insertRunFacts, toAudit } from './facts.js';
import { inProgress, instanceValues, ofInstance } from './runs.js';
import { finishOneOff, lockScheduleRow } from './schedules.js';

/**
 * Aborts one run in progress (CRAWL-33); its schedule continues. The run's worker notices at its next heartbeat, as
 * after a pause. A one-off schedule is finished when the aborted run was its own.
 *
 * @returns false when there is no such run in progress.
 */
export const cancelRun = (pool: pg.Pool, key: RunKey, at: Date, act: Act | null): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const found = await tx.query<{ scheduleId: string }>({
      name: 'cancelled_run',
      text: `select schedule_id as "scheduleId" from runs where ${ofInstance} and id = $4`,
      values: [...instanceValues(key), key.runId],
    });
    const scheduleId = found.rows[0]?.scheduleId;
    if (scheduleId === undefined) return false;
    // Every transaction locks the schedule before the run: in the other order, this and a pause would deadlock.
    await lockScheduleRow(tx, scheduleId);
    const { rows } = await tx.query<{ revision: number; isOnlyRun: boolean }>({
      name: 'cancel_run',
      text: `with ended as (
               update runs set state = 'aborted', reason = 'Cancelled by an administrator', finished_at = $2, due_at = null,
                 parameters = null
               where id = $1 and ${inProgress}
               returning *, trigger in ('schedule', 'missed') and exists (
                 select from schedules s where s.id = runs.schedule_id and not s.is_recurring) as is_only_run
             ), cancelled as (${cancelTasksOf('ended', '$2::timestamptz')}),
             facts as (${insertRunFacts('ended')}),
             audited as (${insertAudit(auditedInstance('ended', 'id'), '$3')})
             select revision::float8 as revision, is_only_run as "isOnlyRun" from ended`,
      values: [key.runId, at, toAudit('crawl_run.cancelled', act)],
    });
    const [run] = rows;
    if (run?.isOnlyRun) await finishOneOff(tx, { scheduleId, revision: run.revision });
    return run !== undefined;
  });
