import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { maybePruneRuns } from '../db/prune-runs.js';
import { findRunLease, findTick, reclaimRun } from '../db/run-claims.js';
import { abortOrphan, insertRun } from '../db/runs.js';
import { findScheduleById, finishOneOff } from '../db/schedules.js';
import { inTransaction, type Db } from '../db/transaction.js';
import { nextRunAfter, createPlan } from '../domain/plan.js';
import { nextTime } from '../domain/recurrence.js';
import { decideTick, isInProgress, MAX_RECOVERIES } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import { type CrawlJob, parseTickRecurrence, parseTickTime } from '../queue/job.js';
import type { ClaimedRun, DeferredRun, RunTimes, NoRun } from './claimed-run.js';

/** `changed` means that the rows were changed concurrently, and are to be read again. */
type ClaimResult = ClaimedRun | DeferredRun | NoRun | 'changed';

/** The interval at which a one-off job checks whether the previous run has ended. */
const OVERLAP_RECHECK_MS = 1_000;

const toTick = (revision: number, at: number): string => `${revision}:${at}`;

/** Decides what a delivered job has to do, and claims its run for this worker. */
export function createRunClaimer(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** Called for a job that should no longer be in the queue. */
  readonly onStale: (job: CrawlJob) => Promise<unknown>;
  /** Fails a run whose workers keep crashing. */
  readonly giveUp: (claimed: ClaimedRun, reason: string) => Promise<unknown>;
}) {
  const { pool, clock, times, onStale, giveUp } = deps;
  const leaseUntil = () => new Date(clock() + times.leaseMs);

  async function reclaim(job: CrawlJob, runId: string): Promise<ClaimResult> {
    const run = await reclaimRun(pool, runId, {
      at: new Date(clock()),
      jobId: job.id ?? '',
      leaseUntil: leaseUntil(),
    });
    if (!run) {
      const lease = await findRunLease(pool, runId);
      if (!lease || !isInProgress(lease.state)) return 'void';
      return lease.state === 'active' && lease.leaseUntil
        ? { deferredUntil: lease.leaseUntil.getTime(), why: 'is claimed by another worker' }
        : 'changed';
    }
    const schedule = await findScheduleById(pool, run.scheduleId);
    // If the run stayed in progress, no later run of the connector could start.
    if (!schedule) return (await abortOrphan(pool, runId, new Date(clock()))) ? 'void' : 'changed';
    if (run.recoveries <= MAX_RECOVERIES) return { run, schedule };
    await giveUp({ run, schedule }, `Lost its worker ${run.recoveries} times`);
    return 'void';
  }

  /** @param given.next - when the schedule runs next, epoch ms. */
  function insertTick(
    db: Db,
    job: CrawlJob,
    schedule: Pick<Schedule, 'id' | 'revision'>,
    given: { at: number; now: number; next: number | undefined; skipReason: string | null },
  ) {
    const { at, now, next, skipReason } = given;
    const isSkipped = skipReason !== null;
    return insertRun(db, {
      id: uuidv7(),
      schedule,
      trigger: 'schedule',
      tick: toTick(schedule.revision, at),
      jobId: job.id ?? '',
      state: isSkipped ? 'skipped' : 'active',
      scheduledFor: new Date(at),
      at: new Date(now),
      leaseUntil: isSkipped ? null : leaseUntil(),
      reason: skipReason,
      nextRunAt: next === undefined ? undefined : new Date(next),
    });
  }

  /**
   * Claims, in one statement, a tick that is on time and whose schedule has the same revision and no run in progress.
   * The next time comes from the job's own scheduler.
   *
   * @returns undefined when that is not the case; the rows then say why.
   */
  async function startInTime(job: CrawlJob, id: string, revision: number): Promise<ClaimedRun | undefined> {
    const now = clock();
    const at = parseTickTime(job.id ?? '');
    const recurrence = parseTickRecurrence(job);
    if (!recurrence || now - at > times.misfireGraceMs) return undefined;
    const next = nextTime(recurrence, Math.max(now, at));
    const run = await insertTick(pool, job, { id, revision }, { at, now, next, skipReason: null });
    return run && { run, schedule: run };
  }

  async function startTick(
    job: CrawlJob,
    schedule: Schedule,
    at: number,
    skipReason: string | null,
  ): Promise<ClaimResult> {
    const now = clock();
    const { scheduleType, missedRunPolicy } = schedule.config;
    const isOnce = scheduleType === 'once';
    const plan = createPlan(schedule);
    // A skipped tick does not stand for those that may still start.
    const mayStillStart = skipReason !== null && missedRunPolicy === 'skip' ? times.misfireGraceMs + 1 : 0;
    const next = isOnce ? undefined : nextRunAfter(plan, Math.max(now - mayStillStart, at));
    const tick = { at, now, next, skipReason };
    if (skipReason === null) {
      const run = await insertTick(pool, job, schedule, tick);
      // The tick was delivered twice at once: read again what the other delivery did.
      return run ? { run, schedule } : 'changed';
    }
    const isSkipped = await inTransaction(pool, async (tx) => {
      const run = await insertTick(tx, job, schedule, tick);
      if (run && isOnce) await finishOneOff(tx, run);
      return run !== undefined;
    });
    if (isSkipped) maybePruneRuns(pool, schedule.orgId, schedule.connector);
    return isSkipped ? 'void' : 'changed';
  }

  async function tryClaim(job: CrawlJob): Promise<ClaimResult> {
    const { data } = job;
    if (data.kind === 'run') return reclaim(job, data.runId);
    const { scheduleId, revision } = data;
    // A job that failed before has a run already.
    const isFirst = job.attemptsMade === 0;
    const claimed = isFirst && data.kind === 'tick' && (await startInTime(job, scheduleId, revision));
    if (claimed) return claimed;
    const at = data.kind === 'once' ? data.at : parseTickTime(job.id ?? '');
    const found = await findTick(pool, {
      scheduleId,
      tick: toTick(revision, at),
      revision,
      scheduledFor: at,
    });
    const decision = decideTick(found, clock(), times.misfireGraceMs);
    if (decision.action === 'wait')
      return { deferredUntil: clock() + OVERLAP_RECHECK_MS, why: 'waits for the run before it' };
    if (decision.action === 'reclaim') return reclaim(job, decision.runId);
    if (decision.action === 'void' || decision.action === 'stale') return decision.action;
    if (!found.schedule) return 'stale';
    return startTick(job, found.schedule, at, decision.action === 'skip' ? decision.reason : null);
  }

  return async (job: CrawlJob): Promise<ClaimedRun | DeferredRun | undefined> => {
    const first = await tryClaim(job);
    const found = first === 'changed' ? await tryClaim(job) : first;
    if (found === 'stale') await onStale(job);
    return typeof found === 'string' ? undefined : found;
  };
}
