import { createSyncEvent, insertOutboxEvent } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { inTransaction } from '../../transaction.js';
import type { CrawlJob } from '../queues/job.js';
import type { Schedule } from '../schedules/queries.js';
import { endRun, lockScheduleRow, markHandedBack, markRetrying } from './holding.queries.js';
import { finishOneOff, pruneRuns, type Run } from './queries.js';
import { type BegunRun, type BusyRun, createTakeUp, type RunTimes } from './take-up.js';

export interface RunLifecycle {
  /** @returns undefined when there is nothing to do for the job. */
  begin(job: CrawlJob): Promise<BegunRun | BusyRun | undefined>;
  /** The run's end and its sync event, both or neither. @returns false when the run had ended before. */
  complete(begun: BegunRun): Promise<boolean>;
  /** @returns what follows; `void` when the run had ended before. */
  fail(begun: BegunRun, reason: string): Promise<'retry' | 'failed' | 'void'>;
  handBack(begun: BegunRun): Promise<void>;
}

/** What the table keeps of each connector of an organisation. */
const RUNS_KEPT = 200;
const PRUNE_EVERY = 16;
/** A retry that isn't taken up this long after its time is taken for lost. */
const RETRY_GRACE_MS = 60_000;
const REASON_LENGTH_MAX = 2_000;

/** Of a remote's making: cut, and without what PostgreSQL's text can't hold. */
const storable = (reason: string): string =>
  reason.replaceAll('\0', '').toWellFormed().slice(0, REASON_LENGTH_MAX);

export function createRunLifecycle(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** Called after each commit that left an event in the outbox. */
  readonly onEvent: () => void;
}): RunLifecycle {
  const { pool, clock, times, onEvent } = deps;

  async function end(run: Run, schedule: Schedule, outcome: 'completed' | 'failed', reason: string | null) {
    const now = clock();
    const event = createSyncEvent({
      orgId: run.orgId,
      connector: run.connector,
      now,
      sourceCreatedAt: schedule.scheduledAt.getTime(),
    });
    const isMine = await inTransaction(pool, async (tx) => {
      // Everybody locks the schedule before the run: the other way round, a pause and this deadlock.
      const endsSchedule = schedule.config.scheduleType === 'once' && run.trigger !== 'manual';
      if (endsSchedule) await lockScheduleRow(tx, run.scheduleId);
      const eventId = outcome === 'completed' ? event.eventId : null;
      if (!(await endRun(tx, { run, outcome, at: new Date(now), reason, eventId }))) return false;
      if (outcome === 'completed') await insertOutboxEvent(tx, event, { runId: run.id });
      if (endsSchedule) await finishOneOff(tx, run);
      return true;
    });
    if (isMine && outcome === 'completed') onEvent();
    // By chance, not by count: a count may fall upon the same connector each time.
    if (Math.random() * PRUNE_EVERY < 1) await pruneRuns(pool, run.orgId, run.connector, RUNS_KEPT);
    return isMine;
  }

  return {
    begin: createTakeUp({
      pool,
      clock,
      times,
      giveUp: (run, schedule, reason) => end(run, schedule, 'failed', reason),
    }),
    complete: ({ run, schedule }) => end(run, schedule, 'completed', null),
    async fail({ run, schedule }, reason) {
      if (run.attempts >= run.attemptsMax)
        return (await end(run, schedule, 'failed', storable(reason))) ? 'failed' : 'void';
      const delayMs = times.retryDelayMs * 2 ** (run.attempts - 1);
      const until = new Date(clock() + delayMs + RETRY_GRACE_MS);
      return (await markRetrying(pool, run, storable(reason), until)) ? 'retry' : 'void';
    },
    async handBack({ run }) {
      await markHandedBack(pool, run, new Date(clock() + RETRY_GRACE_MS));
    },
  };
}
