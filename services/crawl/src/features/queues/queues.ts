import { type Connector, connectors } from '@platform/events';
import { type Clock, currentTraceparent, dependencyUnavailable, type Logger } from '@platform/service-kit';
import { ErrorCode, type JobsOptions, type JobSchedulerJson, type QueueOptions } from 'bullmq';
import { validate as isUuid } from 'uuid';
import { toQueueName } from '../../connectors.js';
import { createPlan } from '../schedules/plan.js';
import type { Queued, Replaced } from '../schedules/queries.js';
import { nextTime, parsePattern, type Recurrence, toPattern } from '../schedules/recurrence.js';
import type { CrawlQueue, Engine } from './engine.js';
import { createErrorReporter } from './error-reporter.js';
import { type CrawlJobData, onceJobId, type RunJob, runJobId, toSchedulerKey } from './job.js';

/*
 * What the queues hold of a schedule belongs to one revision of it: a job scheduler, or one job. What is added before a change
 * is committed does nothing until then, and what is removed is removed after the commit. So a command that times out and is
 * carried out later, or never, does no harm: at worst a job of a revision that no row has is delivered, and does nothing.
 */

/** BullMQ asks this for the next time of a scheduler: the same rule as everywhere else in the service. */
export const repeatSettings: NonNullable<QueueOptions['settings']> = {
  repeatStrategy: (now, { pattern = '', tz, startDate }) =>
    nextTime(parsePattern(pattern, tz), Math.max(now, Number(startDate ?? 0))),
};

/** CRAWL-27: the queue keeps the last 10 of each outcome. The runs table keeps more. */
const HISTORY = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } };

/** Of the next times of a schedule, as many can have a job in the history. */
const MAX_TAKEN_TIMES = HISTORY.removeOnComplete.count + HISTORY.removeOnFail.count;

/** What the reconciler compares a row with. */
export interface Scheduler {
  readonly key: string;
  /** These are undefined for one of nobody's making here. */
  readonly orgId: string | undefined;
  readonly scheduleId: string | undefined;
  readonly revision: number | undefined;
}

/** The jobs of all connectors, each type in its own queue. Everything throws 503 while BullMQ's backend is away. */
export interface CrawlQueues {
  /** Adds what this revision of the schedule needs, unless it is there. */
  apply(schedule: Queued): Promise<void>;
  /** Removes what this revision of the schedule has not begun. What it has begun finds its run ended, and does nothing. */
  clear(schedule: Replaced): Promise<void>;
  addRun(run: RunJob): Promise<void>;
  /** BullMQ's state of a job, `unknown` when there is none. */
  jobState(connector: Connector, jobId: string): Promise<string>;
  countSchedulers(connector: Connector): Promise<number>;
  findScheduler(connector: Connector, key: string): Promise<Scheduler | undefined>;
  listSchedulers(connector: Connector, offset: number, count: number): Promise<Scheduler[]>;
  removeScheduler(connector: Connector, key: string): Promise<void>;
  /** The limit of CRAWL-24, over all replicas together. */
  limitConcurrency(): Promise<void>;
  /** See {@link Engine.afterDataLoss}. */
  afterDataLoss(rebuild: () => Promise<boolean>): Promise<boolean>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const toScheduler = ({ key, template }: JobSchedulerJson<CrawlJobData>): Scheduler => {
  const data = template?.data;
  return data?.kind === 'tick' && isUuid(data.orgId)
    ? { key, orgId: data.orgId, scheduleId: data.scheduleId, revision: data.revision }
    : { key, orgId: undefined, scheduleId: undefined, revision: undefined };
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
  /** How many runs of a queue are active at once, over all replicas. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
}): CrawlQueues {
  const { engine, retryDelayMs, concurrency, clock, log } = deps;
  const queues = new Map<Connector, CrawlQueue>();
  const reportError = createErrorReporter(log, 'Queue error');
  function getQueue(connector: Connector): CrawlQueue {
    const opened = queues.get(connector);
    if (opened) return opened;
    const queue = engine.queue(toQueueName(connector), { settings: repeatSettings });
    queue.on('error', reportError);
    queues.set(connector, queue);
    // BullMQ remembers a start that failed, for good: the next question gets another queue.
    queue.waitUntilReady().catch(() => {
      if (queues.get(connector) === queue) queues.delete(connector);
      return queue.close().catch(() => undefined);
    });
    return queue;
  }

  /** Adds to a queue; where a flush can have forgotten its limit, that is set in the same round trip. */
  async function addTo<T>(connector: Connector, add: (queue: CrawlQueue) => Promise<T>): Promise<T> {
    const queue = getQueue(connector);
    const limiting = engine.isVolatile ? queue.setGlobalConcurrency(concurrency) : undefined;
    const [, added] = await Promise.all([limiting, add(queue)]);
    return added;
  }

  async function addScheduler(schedule: Queued, recurrence: Recurrence): Promise<void> {
    const { id: scheduleId, orgId, connector, revision, maxRetries } = schedule;
    const repeat = toPattern(recurrence);
    const data: CrawlJobData = { kind: 'tick', orgId, connector, scheduleId, revision };
    const template = { name: toQueueName(connector), data, opts: jobOptions(maxRetries + 1, retryDelayMs) };
    const upsert = (startDate: number | undefined) =>
      addTo(connector, (queue) =>
        queue.upsertJobScheduler(
          toSchedulerKey(schedule),
          startDate === undefined ? repeat : { ...repeat, startDate },
          template,
        ),
      );
    let after: number | undefined;
    for (let isMade = false, tries = 0; !isMade; tries += 1)
      try {
        // BullMQ is silent about a scheduler that it does not make.
        if (((await upsert(after)) as unknown) === undefined)
          throw new Error('the job scheduler was not made');
        isMade = true;
      } catch (error) {
        if (!isJobIdTaken(error) || tries === MAX_TAKEN_TIMES) throw error;
        // The clock was set back: this revision's job of that time has been delivered. The next time is the one after it.
        after = nextTime(recurrence, after ?? Date.now());
      }
  }

  async function addOneOff(schedule: Queued, at: number): Promise<void> {
    const { id: scheduleId, orgId, connector, revision, maxRetries } = schedule;
    const data: CrawlJobData = { kind: 'once', orgId, connector, scheduleId, revision, at, ...traced() };
    await addTo(connector, (queue) =>
      queue.add(toQueueName(connector), data, {
        ...jobOptions(maxRetries + 1, retryDelayMs),
        jobId: onceJobId(scheduleId, revision),
        delay: Math.max(0, at - clock()),
      }),
    );
  }

  return {
    apply: (schedule) =>
      ask(() => {
        const plan = createPlan(schedule);
        return plan.kind === 'recurring'
          ? addScheduler(schedule, plan.recurrence)
          : addOneOff(schedule, schedule.nextRunAt?.getTime() ?? plan.at);
      }),
    clear: (schedule) =>
      ask(async () => {
        const { id, connector, revision, config } = schedule;
        const queue = getQueue(connector);
        await (config.scheduleType === 'once'
          ? queue.remove(onceJobId(id, revision))
          : queue.removeJobScheduler(toSchedulerKey(schedule)));
      }),
    addRun: ({ runId, orgId, connector, recoveries, attemptsLeft }) =>
      ask(async () => {
        const opts = {
          ...jobOptions(attemptsLeft, retryDelayMs),
          jobId: runJobId(runId, recoveries),
        };
        const data: CrawlJobData = { kind: 'run', orgId, connector, runId, ...traced() };
        await addTo(connector, (queue) => queue.add(toQueueName(connector), data, opts));
      }),
    jobState: (connector, jobId) => ask(() => getQueue(connector).getJobState(jobId)),
    countSchedulers: (connector) => ask(() => getQueue(connector).getJobSchedulersCount()),
    findScheduler: (connector, key) =>
      ask(async () => {
        const found = await getQueue(connector).getJobScheduler(key);
        return found && toScheduler(found);
      }),
    listSchedulers: (connector, offset, count) =>
      ask(async () =>
        (await getQueue(connector).getJobSchedulers(offset, offset + count - 1, true)).map(toScheduler),
      ),
    removeScheduler: (connector, key) =>
      ask(async () => void (await getQueue(connector).removeJobScheduler(key))),
    limitConcurrency: () =>
      ask(async () => {
        for (const connector of connectors) await getQueue(connector).setGlobalConcurrency(concurrency);
      }),
    afterDataLoss: (rebuild) => engine.afterDataLoss(rebuild),
    ping: () => ask(() => engine.ping()),
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
