import type { Connector } from '@platform/events';
import { createPeriodicTask, dependencyUnavailable, type Logger } from '@platform/service-kit';
import { toQueueName } from '../domain/connectors.js';
import type { CrawlQueue, QueueBackend } from './backend.js';
import { createErrorReporter } from './error-reporter.js';

/**
 * A job is a wake-up: its queue says which connector has work, and it has no data. It leaves nothing behind, as the history
 * is that of the runs; and it is not repeated, as whoever misses it is woken again.
 */
const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** How often a queue that has failed is tried, until it takes jobs again. */
const RETRY_MS = 1_000;

export function openQueues(deps: {
  readonly queueBackend: QueueBackend;
  /** The most active runs of a queue, over all replicas: more jobs would find no place. */
  readonly concurrency: number;
  readonly log: Logger;
}) {
  const { queueBackend, concurrency, log } = deps;
  const queues = new Map<Connector, CrawlQueue>();
  const report = createErrorReporter(log, 'Queue error');
  let failedAt: number | undefined;
  const recovery = createPeriodicTask({
    intervalMs: RETRY_MS,
    async run() {
      if (failedAt === undefined) return;
      await queueBackend.probe();
      log.info({ outageMs: Math.round(performance.now() - failedAt) }, 'The queue takes jobs again');
      failedAt = undefined;
    },
    // What fails is reported where it is called.
    onError: () => undefined,
  });
  recovery.start();

  function reportError(error: Error): void {
    failedAt ??= performance.now();
    report(error);
  }

  /** Calls BullMQ; any failure becomes a 503. */
  async function callQueue<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      // The callers log what failed for them. That the queue takes no jobs is logged even if nobody needed it.
      if (failedAt === undefined) reportError(error as Error);
      throw dependencyUnavailable('queue', error);
    }
  }

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

  async function announceOne(connector: Connector, runs: number): Promise<void> {
    const queue = getQueue(connector);
    // A job that waits will find these runs, too, as they were stored before.
    const missing = Math.min(runs, concurrency) - (await queue.getWaitingCount());
    if (missing <= 0) return;
    const job = { name: toQueueName(connector), data: {}, opts: jobOptions };
    await queue.addBulk(Array.from({ length: missing }, () => job));
  }

  return {
    /**
     * Wakes as many workers of each connector as it has runs to be claimed. Call it after the commit that stored them.
     *
     * @throws AppError 503 while the backend is unavailable.
     */
    announce: (counts: ReadonlyMap<Connector, number>): Promise<void> =>
      callQueue(async () => {
        await Promise.all(Array.from(counts, ([connector, runs]) => announceOne(connector, runs)));
      }),
    /** @throws AppError 503 while the backend takes no writes. */
    probe: (): Promise<unknown> => callQueue(() => queueBackend.probe()),
    async close(): Promise<void> {
      await recovery.stop();
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

/** The wake-ups of all connectors; each connector type has its own queue. */
export type CrawlQueues = ReturnType<typeof openQueues>;
