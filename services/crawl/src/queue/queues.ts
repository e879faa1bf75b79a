import { type Connector, connectors } from '@platform/events';
import { currentTraceparent, dependencyUnavailable, type Logger } from '@platform/service-kit';
import { toQueueName } from '../domain/connectors.js';
import type { DueRun } from '../db/runs.js';
import type { CrawlQueue, QueueBackend } from './backend.js';
import { createErrorReporter } from './error-reporter.js';
import { type CrawlJobData, toJobId } from './job.js';

/**
 * Each delivery of a run is one job: a retry is another one. Jobs have no priority: they start in the order in which the
 * runs became due. BullMQ's priority is strict over a whole queue, which all organisations share, so those with priority 1
 * could delay the others forever. The queue keeps the last 10 jobs of each outcome (CRAWL-27); the runs table keeps more.
 */
const jobOptions = { attempts: 1, removeOnComplete: { count: 10 }, removeOnFail: { count: 10 } } as const;

function getTraceContext(): Pick<CrawlJobData, 'traceparent'> {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

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
  /** The most active runs of a queue, over all replicas. */
  readonly concurrency: number;
  readonly log: Logger;
}) {
  const { queueBackend, concurrency, log } = deps;
  const queues = new Map<Connector, CrawlQueue>();
  const reportError = createErrorReporter(log, 'Queue error');
  function getQueue(connector: Connector): CrawlQueue {
    const opened = queues.get(connector);
    if (opened) return opened;
    const queue = queueBackend.queue(toQueueName(connector), {});
    queue.on('error', reportError);
    queues.set(connector, queue);
    // BullMQ never retries a failed start: the next call opens another queue.
    queue.waitUntilReady().catch(() => {
      if (queues.get(connector) === queue) queues.delete(connector);
      return queue.close().catch(() => undefined);
    });
    return queue;
  }

  async function setConcurrency(limited: Iterable<Connector>): Promise<void> {
    await Promise.all(
      Array.from(limited, async (connector) => {
        await getQueue(connector).setGlobalConcurrency(concurrency);
      }),
    );
  }

  /** Sets the limits that a flush can have removed, before any job of these queues is added. */
  const limit = async (limited: Iterable<Connector>): Promise<void> => {
    if (queueBackend.isVolatile) await setConcurrency(limited);
  };

  return {
    /** Adds the jobs of runs, in their order; a job that a queue has already is not added again. */
    add: (runs: readonly DueRun[]): Promise<void> =>
      callQueue(async () => {
        const named = [...new Set(runs.map(({ connector }) => connector))];
        await Promise.all([
          limit(named),
          ...named.map((connector) =>
            getQueue(connector).addBulk(
              runs
                .filter((run) => run.connector === connector)
                .map(({ id, orgId, claimCount }) => ({
                  name: toQueueName(connector),
                  data: { orgId, connector, runId: id, claimCount, ...getTraceContext() },
                  opts: { ...jobOptions, jobId: toJobId({ id, claimCount }) },
                })),
            ),
          ),
        ]);
      }),

    /** Returns BullMQ's state of a job, `unknown` when there is none. */
    jobState: (connector: Connector, jobId: string): Promise<string> =>
      callQueue(() => getQueue(connector).getJobState(jobId)),

    /** Sets the limit of CRAWL-24, which holds over all replicas together. */
    limitConcurrency: (): Promise<void> => callQueue(() => setConcurrency(connectors)),

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
