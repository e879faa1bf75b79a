import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { recordMissedRun, type ExpectedJob, findOverdue, markOverdue } from '../../db/expected-runs.js';
import { maybePruneRuns } from '../../db/prune-runs.js';
import { insertRun, type Run } from '../../db/runs.js';
import { findSchedule, finishOneOff } from '../../db/schedules.js';
import { inTransaction, type Transaction } from '../../db/transaction.js';
import { nextRunAfter, createPlan } from '../../domain/plan.js';
import { ENQUEUE_GRACE_MS } from '../../domain/run-state.js';
import type { Schedule } from '../../domain/schedule.js';
import type { Applier } from '../../queue/applier.js';
import { toOnceJobId, toRunJobId, toSchedulerKey, toTickJobId } from '../../queue/job.js';
import { type CrawlQueues, isPending } from '../../queue/queues.js';
import type { CrawlMetrics } from '../metrics.js';
import { forEachConcurrently } from './for-each-concurrently.js';

/*
 * Finds schedules whose expected run did not start in time. The row says what is expected, so even a queue that lost
 * everything is noticed.
 *
 * If the job is in the queue, it waits for a worker. The schedule is marked (`overdueSince` in the status item), the
 * gauge and the log say so, and nothing else is done: the job will run.
 *
 * If the job is in no queue, the run was missed. One run replaces it, or it is recorded as skipped if the schedule's
 * policy says that it is too late; the applier recreates the scheduler. The run carries the key of the tick, so a job
 * that turns up after all finds its tick claimed.
 */

const PAGE = 500;
/** Each repair holds a connection, and runs need some, too. */
const MAX_CONCURRENT_REPAIRS = 4;

export interface WatchdogDeps {
  readonly pool: pg.Pool;
  readonly queues: CrawlQueues;
  readonly applier: Pick<Applier, 'wake'>;
  readonly clock: Clock;
  readonly metrics: CrawlMetrics;
  readonly log: Logger;
  readonly overdueGraceMs: number;
  /** The longest delay with which a run still starts when its schedule skips missed runs. */
  readonly misfireGraceMs: number;
}

const toExpectedJobId = (schedule: ExpectedJob, expected: number): string =>
  schedule.isRecurring
    ? toTickJobId(toSchedulerKey(schedule), expected)
    : toOnceJobId(schedule.id, schedule.revision);

/** Records the missed run as waiting or as skipped. @returns the run, if it is to be done. */
async function insertMissed(
  tx: Transaction,
  schedule: Schedule,
  missed: { readonly expected: Date; readonly isSkipped: boolean; readonly now: number },
): Promise<Run | undefined> {
  const { expected, isSkipped, now } = missed;
  const runId = uuidv7();
  const run = await insertRun(tx, {
    id: runId,
    schedule,
    trigger: 'missed',
    tick: `${schedule.revision}:${expected.getTime()}`,
    jobId: toRunJobId(runId, 0),
    state: isSkipped ? 'skipped' : 'waiting',
    scheduledFor: expected,
    at: new Date(now),
    leaseUntil: isSkipped ? null : new Date(now + ENQUEUE_GRACE_MS),
    reason: isSkipped ? 'Missed: its job was not in the queue when it was due' : null,
    nextRunAt: undefined,
  });
  if (!isSkipped) return run;
  if (run && schedule.config.scheduleType === 'once') await finishOneOff(tx, run);
  return undefined;
}

export function createWatchdog(deps: WatchdogDeps) {
  const { pool, queues, applier, clock, metrics, log, overdueGraceMs, misfireGraceMs } = deps;

  const isTooLate = ({ config }: Schedule, expected: Date): boolean =>
    config.missedRunPolicy === 'skip' && clock() - expected.getTime() > misfireGraceMs;

  /**
   * Returns when the next run is expected. A replacement run covers every time that has passed; a skipped one does
   * not cover times that may still start, as such a tick can be on its way right now. Null for a one-off schedule.
   */
  function nextExpected(schedule: Schedule, isSkipped: boolean): Date | null {
    if (schedule.config.scheduleType === 'once') return null;
    // The first time that is not too late itself.
    const past = clock() - (isSkipped ? misfireGraceMs + 1 : 0);
    const next = nextRunAfter(createPlan(schedule), past);
    return next === undefined ? null : new Date(next);
  }

  async function replaceMissedRun({ orgId, connector, revision, nextRunAt }: ExpectedJob): Promise<void> {
    const schedule = await findSchedule(pool, orgId, connector);
    const expected = schedule?.nextRunAt;
    const isAsSeen = schedule?.revision === revision && expected?.getTime() === nextRunAt?.getTime();
    if (!schedule || !expected || !isAsSeen) return;
    const isSkipped = isTooLate(schedule, expected);
    const next = nextExpected(schedule, isSkipped);
    const missed = await inTransaction(pool, async (tx) => {
      if (!(await recordMissedRun(tx, schedule, expected, next))) return undefined;
      return { run: await insertMissed(tx, schedule, { expected, isSkipped, now: clock() }) };
    });
    if (!missed) return;
    applier.wake();
    metrics.missed.inc({ connector, policy: schedule.config.missedRunPolicy });
    log.warn(
      { orgId, connector, expected },
      'an expected run was missed; it was replaced, or recorded as skipped',
    );
    maybePruneRuns(pool, orgId, connector);
    // If the queue does not respond, the run is recovered once its lease has expired.
    const { run } = missed;
    if (run)
      await queues.addRun({ runId: run.id, orgId, connector, recoveries: 0, attemptsLeft: run.maxAttempts });
  }

  async function isQueued(schedule: ExpectedJob): Promise<boolean> {
    const jobId = toExpectedJobId(schedule, schedule.nextRunAt?.getTime() ?? 0);
    return isPending(await queues.jobState(schedule.connector, jobId));
  }

  /** @returns the ids of those schedules of a page whose job waits for a worker. */
  async function checkPage(page: readonly ExpectedJob[]): Promise<string[]> {
    const waiting: string[] = [];
    await forEachConcurrently(
      page,
      async (schedule) => {
        if (await isQueued(schedule)) waiting.push(schedule.id);
        else await replaceMissedRun(schedule);
      },
      { log, what: 'making up for a run', concurrency: MAX_CONCURRENT_REPAIRS },
    );
    if (waiting.length > 0) await markOverdue(pool, waiting);
    return waiting;
  }

  return async (stopping: AbortSignal): Promise<void> => {
    const before = new Date(clock() - overdueGraceMs);
    let count = 0;
    // All pages are read: schedules that wait must not hide those that were missed.
    for (let last: ExpectedJob | undefined; !stopping.aborted;) {
      const page = await findOverdue(pool, before, last, PAGE);
      count += (await checkPage(page)).length;
      last = page.at(-1);
      if (page.length < PAGE) break;
    }
    if (count > 0) log.warn({ count }, 'expected runs are waiting for a worker');
    metrics.overdue.set(count);
  };
}
