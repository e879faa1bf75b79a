import { currentTraceparent } from '@platform/service-kit';
import { ErrorCode, type JobsOptions, type QueueOptions } from 'bullmq';
import { toQueueName } from '../domain/connectors.js';
import { nextTime, parsePattern, type Recurrence, toPattern } from '../domain/recurrence.js';
import type { Schedule } from '../domain/schedule.js';
import type { CrawlQueue } from './backend.js';
import { type CrawlJobData, toOnceJobId, toSchedulerKey } from './job.js';

/*
 * Each job scheduler and one-off job that is created here belongs to one revision of a schedule, so that a command for one
 * revision never touches another's, however late it is executed. Jobs of runs belong to none: see job.ts.
 */

/** Calculates the next time of a scheduler for BullMQ by the same rule as the rest of the service. */
export const repeatSettings: NonNullable<QueueOptions['settings']> = {
  repeatStrategy: (now, { pattern = '', tz, startDate }) =>
    nextTime(parsePattern(pattern, tz), Math.max(now, Number(startDate ?? 0))),
};

/** The queue keeps the last 10 jobs of each outcome (CRAWL-27). The runs table keeps more. */
const HISTORY = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** The largest number of a schedule's next times whose job ids finished jobs in the history can have taken. */
const MAX_TAKEN_TIMES = HISTORY.removeOnComplete.count + HISTORY.removeOnFail.count;

/** Identifies the queue's entry of one revision of a schedule. */
export type QueuedRevision = Pick<Schedule, 'id' | 'orgId' | 'connector' | 'revision'>;
/** The columns of a schedule that the queue needs. */
export type Queued = QueuedRevision & Pick<Schedule, 'config' | 'maxRetries' | 'anchorAt' | 'nextRunAt'>;

const isJobIdTaken = (error: unknown): boolean =>
  (error as { code?: unknown }).code === ErrorCode.SchedulerJobIdCollision;

export function getTraceContext(): Pick<CrawlJobData, 'traceparent'> {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

/**
 * Jobs have no priority: they start in the order in which they became due (on PostgreSQL: were added). BullMQ's
 * priority is strict over a whole queue, which all organisations share, so those with priority 1 could delay the
 * others forever.
 */
export function jobOptions(attempts: number, retryDelayMs: number): JobsOptions {
  return { ...HISTORY, attempts, backoff: { type: 'exponential', delay: retryDelayMs } };
}

/** Creates the job scheduler of one revision of a recurring schedule. */
export async function addScheduler(
  queue: CrawlQueue,
  schedule: Queued,
  recurrence: Recurrence,
  retryDelayMs: number,
): Promise<void> {
  const { id: scheduleId, orgId, connector, revision, maxRetries } = schedule;
  const repeat = toPattern(recurrence);
  const data: CrawlJobData = { kind: 'tick', orgId, connector, scheduleId, revision };
  const template = { name: toQueueName(connector), data, opts: jobOptions(maxRetries + 1, retryDelayMs) };
  const upsert = (startDate: number | undefined) =>
    queue.upsertJobScheduler(
      toSchedulerKey(schedule),
      startDate === undefined ? repeat : { ...repeat, startDate },
      template,
    );
  let after: number | undefined;
  for (let isMade = false, tries = 0; !isMade; tries += 1)
    try {
      // BullMQ does not report a scheduler that it could not create.
      if (((await upsert(after)) as unknown) === undefined) throw new Error('the job scheduler was not made');
      isMade = true;
    } catch (error) {
      if (!isJobIdTaken(error) || tries === MAX_TAKEN_TIMES) throw error;
      // The clock was set back: this revision's job of that time has been delivered already. Continue with the time
      // after it.
      after = nextTime(recurrence, after ?? Date.now());
    }
}

/** Adds the job of one revision of a one-off schedule. @param given.now - epoch ms. */
export async function addOneOff(
  queue: CrawlQueue,
  schedule: Queued,
  given: { readonly at: number; readonly now: number; readonly retryDelayMs: number },
): Promise<void> {
  const { at, now, retryDelayMs } = given;
  const { id: scheduleId, orgId, connector, revision, maxRetries } = schedule;
  const data: CrawlJobData = {
    kind: 'once',
    orgId,
    connector,
    scheduleId,
    revision,
    at,
    ...getTraceContext(),
  };
  await queue.add(toQueueName(connector), data, {
    ...jobOptions(maxRetries + 1, retryDelayMs),
    jobId: toOnceJobId(scheduleId, revision),
    delay: Math.max(0, at - now),
  });
}
