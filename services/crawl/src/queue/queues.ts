import { type Connector, connectors } from '@platform/events';
import { type Clock, dependencyUnavailable, type Logger } from '@platform/service-kit';
import { toQueueName } from '../domain/connectors.js';
import { createPlan } from '../domain/plan.js';
import type { CrawlQueue, QueueBackend } from './backend.js';
import { createErrorReporter } from './error-reporter.js';
import {
  type CrawlJobData,
  toOnceJobId,
  type RunJob,
  toRunJobId,
  toSchedulerKey,
  parseSchedulerKey,
} from './job.js';
import {
  addOneOff,
  addScheduler,
  getTraceContext,
  jobOptions,
  type Queued,
  type QueuedRevision,
  repeatSettings,
} from './schedule-jobs.js';

const LIMIT_REFRESH_MS = 1_000;

/** BullMQ's states of a job that will still run. */
const pending = new Set(['waiting', 'prioritized', 'delayed', 'active', 'paused']);
export const isPending = (state: string): boolean => pending.has(state);

/** Calls BullMQ; any failure becomes a 503. */
async function callQueue<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw dependencyUnavailable('queue', error);
  }
}

export function openQueues(deps: {
  readonly queueBackend: QueueBackend;
  readonly retryDelayMs: number;
  /** The most active runs of a queue, over all replicas. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { queueBackend, retryDelayMs, concurrency, clock, log } = deps;
  const queues = new Map<Connector, CrawlQueue>();
  const reportError = createErrorReporter(log, 'Queue error');
  function getQueue(connector: Connector): CrawlQueue {
    const opened = queues.get(connector);
    if (opened) return opened;
    const queue = queueBackend.queue(toQueueName(connector), { settings: repeatSettings });
    queue.on('error', reportError);
    queues.set(connector, queue);
    // BullMQ never retries a failed start: the next call opens another queue.
    queue.waitUntilReady().catch(() => {
      if (queues.get(connector) === queue) queues.delete(connector);
      return queue.close().catch(() => undefined);
    });
    return queue;
  }

  const limitedAt = new Map<Connector, number>();
  const isLimitOld = (connector: Connector): boolean =>
    performance.now() - (limitedAt.get(connector) ?? -Infinity) >= LIMIT_REFRESH_MS;
  async function setConcurrency(limited: Iterable<Connector>): Promise<void> {
    await Promise.all(
      Array.from(limited, async (connector) => {
        await getQueue(connector).setGlobalConcurrency(concurrency);
        limitedAt.set(connector, performance.now());
      }),
    );
  }

  return {
    /** Adds the job scheduler or the job that this revision of the schedule needs. */
    apply: (schedule: Queued): Promise<void> =>
      callQueue(() => {
        const queue = getQueue(schedule.connector);
        const plan = createPlan(schedule);
        return plan.kind === 'recurring'
          ? addScheduler(queue, schedule, plan.recurrence, retryDelayMs)
          : addOneOff(queue, schedule, {
              at: schedule.nextRunAt?.getTime() ?? plan.at,
              now: clock(),
              retryDelayMs,
            });
      }),

    /** Resolves with whether that job scheduler or job exists. */
    has: (schedule: Queued): Promise<boolean> =>
      callQueue(async () => {
        const { id, connector, revision, config } = schedule;
        const queue = getQueue(connector);
        if (config.scheduleType === 'once')
          return isPending(await queue.getJobState(toOnceJobId(id, revision)));
        return (await queue.getJobScheduler(toSchedulerKey(schedule))) !== undefined;
      }),

    /**
     * Removes what the queue may hold of a revision: its job scheduler and, if it may be a one-off schedule, its job,
     * but not the job `kept`. A run that has begun notices that it has ended, and does nothing.
     */
    clear: (
      revision: QueuedRevision,
      { mayBeOneOff, kept }: { readonly mayBeOneOff: boolean; readonly kept: string | null },
    ): Promise<void> =>
      callQueue(async () => {
        const queue = getQueue(revision.connector);
        const jobId = toOnceJobId(revision.id, revision.revision);
        await Promise.all([
          queue.removeJobScheduler(toSchedulerKey(revision)),
          mayBeOneOff && jobId !== kept ? queue.remove(jobId) : undefined,
        ]);
      }),
    addRun: ({ runId, orgId, connector, recoveries, attemptsLeft }: RunJob): Promise<void> =>
      callQueue(async () => {
        const opts = {
          ...jobOptions(attemptsLeft, retryDelayMs),
          jobId: toRunJobId(runId, recoveries),
        };
        const data: CrawlJobData = { kind: 'run', orgId, connector, runId, ...getTraceContext() };
        await Promise.all([
          queueBackend.isVolatile ? setConcurrency([connector]) : undefined,
          getQueue(connector).add(toQueueName(connector), data, opts),
        ]);
      }),

    /** Returns BullMQ's state of a job, `unknown` when there is none. */
    jobState: (connector: Connector, jobId: string): Promise<string> =>
      callQueue(() => getQueue(connector).getJobState(jobId)),

    /** Removes the job scheduler that made a tick. @returns whether it was there. */
    removeTickScheduler: (connector: Connector, jobId: string): Promise<boolean> =>
      callQueue(() => getQueue(connector).removeJobScheduler(parseSchedulerKey(jobId))),

    /**
     * Sets the limit of CRAWL-24, which holds over all replicas together. When queues are named, their limit is set
     * only where a flush can have removed it, and at most once a second, as every batch of changes names its queues.
     */
    limitConcurrency: (limited?: Iterable<Connector>): Promise<void> =>
      callQueue(async () => {
        if (limited === undefined) await setConcurrency(connectors);
        else if (queueBackend.isVolatile) await setConcurrency(Array.from(limited).filter(isLimitOld));
      }),

    /** See {@link QueueBackend.afterDataLoss}. */
    afterDataLoss: (rebuild: () => Promise<boolean>): Promise<boolean> => queueBackend.afterDataLoss(rebuild),
    ping: (): Promise<unknown> => callQueue(() => queueBackend.ping()),
    async close(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

/**
 * The jobs of all connectors; each connector type has its own queue. Everything fails with 503 while the backend is
 * unavailable.
 */
export type CrawlQueues = ReturnType<typeof openQueues>;
