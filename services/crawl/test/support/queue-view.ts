import type { Connector } from '@platform/events';
import { createLogger } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import type { JobsOptions, Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { createQueueBackend, type QueueBackend } from '../../src/queue/backend.js';
import type { CrawlJobData } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';

export interface DueJob {
  readonly data: CrawlJobData;
  readonly opts: JobsOptions;
}

/** BullMQ's states of a job that will still run. */
const pending = new Set(['waiting', 'prioritized', 'delayed', 'active', 'paused']);
export const isPending = (state: string): boolean => pending.has(state);

/** Reads the queues, and changes them in ways that no service does. */
export interface QueueView extends Pick<CrawlQueues, 'jobState' | 'close'> {
  /** Returns how many jobs of the queue may be active at once, or null when it has no limit. */
  findConcurrency(connector: Connector): Promise<number | null>;
  /** Adds jobs that are due. Returns the number of waiting jobs. */
  fill(connector: Connector, jobs: readonly DueJob[]): Promise<number>;
}

async function withQueue<T>(
  queueBackend: QueueBackend,
  connector: Connector,
  use: (queue: Queue<CrawlJobData>) => Promise<T>,
): Promise<T> {
  await waitFor(() => queueBackend.ping().then(() => true), { what: 'the queue' });
  const queue = queueBackend.queue(toQueueName(connector), {}) as Queue<CrawlJobData>;
  queue.on('error', () => undefined);
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

const FILL_SIZE = 500;

async function fill(
  queueBackend: QueueBackend,
  connector: Connector,
  jobs: readonly DueJob[],
): Promise<number> {
  const name = toQueueName(connector);
  await waitFor(() => queueBackend.ping().then(() => true), { what: 'the queue' });
  const queue = queueBackend.queue(name, {}) as Queue<CrawlJobData>;
  try {
    // Jobs are added in chunks, which are retried because a busy machine may exceed the timeout of a command.
    // A job with an id is added only once.
    for (let start = 0; start < jobs.length; start += FILL_SIZE) {
      const part = jobs.slice(start, start + FILL_SIZE).map((job) => ({ name, ...job }));
      await waitFor(() => queue.addBulk(part), { what: 'a part of the jobs in the queue' });
    }
    return (
      (await waitFor(() => queue.getJobCounts('waiting'), { what: 'the number of waiting jobs' }))[
        'waiting'
      ] ?? 0
    );
  } finally {
    await queue.close();
  }
}

/** Connects on first use, to either backend. */
export function openQueueView(backend: {
  readonly redisUrl: string | undefined;
  readonly databaseUrl: string;
}): QueueView {
  let opened: { readonly queueBackend: QueueBackend; readonly queues: CrawlQueues } | undefined;
  function open() {
    const log = createLogger('test', 'silent');
    opened ??= (() => {
      const queueBackend = createQueueBackend({ ...backend, maxWorkers: 0, log });
      return {
        queueBackend,
        queues: openQueues({ queueBackend, concurrency: 5, log }),
      };
    })();
    return opened;
  }
  return {
    jobState: (connector, jobId) => open().queues.jobState(connector, jobId),
    findConcurrency: (connector) =>
      withQueue(open().queueBackend, connector, (queue) => queue.getGlobalConcurrency()),
    fill: (connector, jobs) => fill(open().queueBackend, connector, jobs),
    async close() {
      await opened?.queues.close();
      await opened?.queueBackend.close();
    },
  };
}
