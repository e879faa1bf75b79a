import { type Connector, connectors } from '@platform/events';
import { type Clock, currentTraceparent, dependencyUnavailable, type Logger } from '@platform/service-kit';
import { ErrorCode, type JobsOptions, type JobSchedulerJson, type QueueOptions } from 'bullmq';
import { jobKeyOf, queueNameOf } from '../../connectors.js';
import { nextTime, patternOf, recurrenceOf } from '../schedules/cron.js';
import { planOf } from '../schedules/plan.js';
import type { Queued, Replaced } from '../schedules/queries.js';
import type { CrawlQueue, Engine } from './engine.js';
import { type CrawlJobData, onceJobId, type RunJob, runJobId, tickJobId } from './job.js';

/** BullMQ asks this for the next time of a scheduler: the same rule as everywhere else in the service. */
export const repeatSettings: NonNullable<QueueOptions['settings']> = {
  repeatStrategy: (now, { pattern = '', tz, startDate }) =>
    nextTime(recurrenceOf(pattern, tz), Math.max(now, Number(startDate ?? 0))),
};

/** Section 8: the queue keeps the last 10 of each outcome. The runs table keeps more. */
const HISTORY = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** Section 8. */
export const CONCURRENCY_PER_QUEUE = 5;

/** What the reconciler compares a row with. */
export interface Scheduler {
  readonly key: string;
  readonly scheduleId: string | undefined;
  readonly revision: number | undefined;
}

/** The jobs of all connectors, each type in its own queue. Everything throws 503 while BullMQ's backend is away. */
export interface CrawlQueues {
  /** Makes the queue agree with the row; `previous` is what the row was before. */
  apply(schedule: Queued, previous?: Replaced): Promise<void>;
  /** Removes every job that the schedule has not begun. */
  clear(schedule: Queued): Promise<void>;
  addRun(run: RunJob): Promise<void>;
  removeJob(connector: Connector, jobId: string): Promise<void>;
  /** BullMQ's state of a job, `unknown` when there is none. */
  jobState(connector: Connector, jobId: string): Promise<string>;
  countSchedulers(connector: Connector): Promise<number>;
  findScheduler(connector: Connector, key: string): Promise<Scheduler | undefined>;
  listSchedulers(connector: Connector, offset: number, count: number): Promise<Scheduler[]>;
  removeScheduler(connector: Connector, key: string): Promise<void>;
  /** Section 8's five jobs a queue, over all replicas together. */
  limitConcurrency(): Promise<void>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const schedulerOf = ({ key, template }: JobSchedulerJson<CrawlJobData>): Scheduler => {
  const data = template?.data;
  return data?.kind === 'tick'
    ? { key, scheduleId: data.scheduleId, revision: data.revision }
    : { key, scheduleId: undefined, revision: undefined };
};

const isJobIdTaken = (error: unknown): boolean =>
  (error as { code?: unknown }).code === ErrorCode.SchedulerJobIdCollision;

function traced(): Pick<CrawlJobData, 'traceparent'> {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

/** Runs one question to BullMQ; whatever it fails with, the caller hears 503. */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw dependencyUnavailable('queue', error);
  }
}

/**
 * Without a priority, so in the order in which they became due (on PostgreSQL: were made). BullMQ's is strict over the whole
 * queue, and a queue is all organisations': those who ask for 1 would keep the others waiting for good.
 */
function jobOptions(attempts: number, retryDelayMs: number): JobsOptions {
  return { ...HISTORY, attempts, backoff: { type: 'exponential', delay: retryDelayMs } };
}

export function openQueues(deps: {
  readonly engine: Engine;
  readonly retryDelayMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}): CrawlQueues {
  const { engine, retryDelayMs, clock, log } = deps;
  const queues = new Map<Connector, CrawlQueue>();
  function queueOf(connector: Connector): CrawlQueue {
    const opened = queues.get(connector);
    if (opened) return opened;
    const queue = engine.queue(queueNameOf(connector), { settings: repeatSettings });
    queue.on('error', (error) => {
      log.warn({ err: error, connector }, 'queue error');
    });
    queues.set(connector, queue);
    // BullMQ remembers a start that failed, for good: the next question gets another queue.
    queue.waitUntilReady().catch(() => {
      if (queues.get(connector) === queue) queues.delete(connector);
      return queue.close().catch(() => undefined);
    });
    return queue;
  }

  async function removeOnce(schedule: Replaced): Promise<void> {
    if (schedule.config.scheduleType === 'once')
      await queueOf(schedule.connector).remove(onceJobId(schedule.id, schedule.revision));
  }

  async function applyRow(schedule: Queued, previous: Replaced | undefined): Promise<void> {
    const { id, orgId, connector, revision, maxRetries, config } = schedule;
    const key = jobKeyOf(connector, orgId);
    const plan = planOf(config, key);
    const opts = jobOptions(maxRetries + 1, retryDelayMs);
    const name = queueNameOf(connector);
    const queue = queueOf(connector);
    if (previous) await removeOnce(previous);
    if (plan.kind === 'recurring') {
      const { recurrence } = plan;
      const data: CrawlJobData = { kind: 'tick', orgId, connector, scheduleId: id, revision };
      const repeat = { pattern: patternOf(recurrence), tz: recurrence.timezone };
      const upsert = (after?: number) =>
        queue.upsertJobScheduler(key, after === undefined ? repeat : { ...repeat, startDate: after }, {
          name,
          data,
          opts,
        });
      const made = await upsert().catch(async (error: unknown) => {
        if (!isJobIdTaken(error)) throw error;
        // The clock stepped back, or the queue is older than the row: the job of that time is still in the queue.
        await queue.removeJobScheduler(key);
        const taken = nextTime(recurrence, Date.now()) ?? 0;
        // One that is being worked on stays, with an error or without, by the backend.
        await queue.remove(tickJobId(key, taken)).catch(() => undefined);
        return upsert().catch((again: unknown) => {
          if (!isJobIdTaken(again)) throw again;
          // The time after it is the scheduler's first, and this one is the watchdog's.
          return upsert(taken);
        });
      });
      // BullMQ is silent about a scheduler that it does not make.
      if ((made as unknown) === undefined) throw new Error('the job scheduler was not made');
      return;
    }
    if (previous && previous.config.scheduleType !== 'once') await queue.removeJobScheduler(key);
    const at = schedule.nextRunAt?.getTime() ?? plan.at;
    const data: CrawlJobData = { kind: 'once', orgId, connector, scheduleId: id, revision, at, ...traced() };
    await queue.add(name, data, {
      ...opts,
      jobId: onceJobId(id, revision),
      delay: Math.max(0, at - clock()),
    });
  }

  return {
    apply: (schedule, previous) => ask(() => applyRow(schedule, previous)),
    clear: (schedule) =>
      ask(async () => {
        await removeOnce(schedule);
        if (schedule.config.scheduleType !== 'once')
          await queueOf(schedule.connector).removeJobScheduler(jobKeyOf(schedule.connector, schedule.orgId));
      }),
    addRun: ({ runId, orgId, connector, recoveries, attemptsLeft }) =>
      ask(async () => {
        const opts = {
          ...jobOptions(attemptsLeft, retryDelayMs),
          jobId: runJobId(runId, recoveries),
        };
        const data: CrawlJobData = { kind: 'run', orgId, connector, runId, ...traced() };
        await queueOf(connector).add(queueNameOf(connector), data, opts);
      }),
    removeJob: (connector, jobId) => ask(async () => void (await queueOf(connector).remove(jobId))),
    jobState: (connector, jobId) => ask(() => queueOf(connector).getJobState(jobId)),
    countSchedulers: (connector) => ask(() => queueOf(connector).getJobSchedulersCount()),
    findScheduler: (connector, key) =>
      ask(async () => {
        const found = await queueOf(connector).getJobScheduler(key);
        return found && schedulerOf(found);
      }),
    listSchedulers: (connector, offset, count) =>
      ask(async () =>
        (await queueOf(connector).getJobSchedulers(offset, offset + count - 1, true)).map(schedulerOf),
      ),
    removeScheduler: (connector, key) =>
      ask(async () => void (await queueOf(connector).removeJobScheduler(key))),
    limitConcurrency: () =>
      ask(async () => {
        for (const connector of connectors)
          await queueOf(connector).setGlobalConcurrency(CONCURRENCY_PER_QUEUE);
      }),
    ping: () => ask(() => engine.ping()),
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
