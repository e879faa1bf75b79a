import type { Connector } from '@platform/events';
import { createLogger } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import type { JobSchedulerJson, JobsOptions, Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { createQueueBackend, type QueueBackend } from '../../src/queue/backend.js';
import { type CrawlJobData, parseTickTime } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import { repeatSettings } from '../../src/queue/schedule-jobs.js';

export interface DueJob {
  readonly data: CrawlJobData;
  readonly opts: JobsOptions;
}

/** A job scheduler, with the schedule and revision that it belongs to. */
export interface Scheduler {
  readonly key: string;
  readonly scheduleId: string | undefined;
  readonly revision: number | undefined;
}

/** Reads the queues, and changes them in ways that no service does. */
export interface QueueView extends Pick<CrawlQueues, 'jobState' | 'close'> {
  listSchedulers(connector: Connector): Promise<Scheduler[]>;
  removeScheduler(connector: Connector, key: string): Promise<void>;
  /** Returns how many jobs of the queue may be active at once, or null when it has no limit. */
  findConcurrency(connector: Connector): Promise<number | null>;
  /** Adds a scheduler with a key of an earlier version of the service. Returns the time of its first tick. */
  addScheduler(connector: Connector, key: string, pattern: string, data: CrawlJobData): Promise<number>;
  /** Adds jobs that are due. Returns the number of waiting jobs. */
  fill(connector: Connector, jobs: readonly DueJob[]): Promise<number>;
}

async function withQueue<T>(
  queueBackend: QueueBackend,
  connector: Connector,
  use: (queue: Queue<CrawlJobData>) => Promise<T>,
): Promise<T> {
  await waitFor(() => queueBackend.ping().then(() => true), { what: 'the queue' });
  const queue = queueBackend.queue(toQueueName(connector), {
    settings: repeatSettings,
  }) as Queue<CrawlJobData>;
  queue.on('error', () => undefined);
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

const toScheduler = ({ key, template }: JobSchedulerJson<CrawlJobData>): Scheduler => {
  const data = template?.data;
  return data?.kind === 'tick'
    ? { key, scheduleId: data.scheduleId, revision: data.revision }
    : { key, scheduleId: undefined, revision: undefined };
};

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
        queues: openQueues({ queueBackend, retryDelayMs: 0, concurrency: 5, clock: Date.now, log }),
      };
    })();
    return opened;
  }
  return {
    jobState: (connector, jobId) => open().queues.jobState(connector, jobId),
    listSchedulers: (connector) =>
      withQueue(open().queueBackend, connector, async (queue) =>
        (await queue.getJobSchedulers(0, 500, true)).map(toScheduler),
      ),
    removeScheduler: (connector, key) =>
      withQueue(open().queueBackend, connector, async (queue) => void (await queue.removeJobScheduler(key))),
    findConcurrency: (connector) =>
      withQueue(open().queueBackend, connector, (queue) => queue.getGlobalConcurrency()),
    addScheduler: (connector, key, pattern, data) =>
      withQueue(open().queueBackend, connector, async (queue) => {
        const template = { name: toQueueName(connector), data };
        const tick = await queue.upsertJobScheduler(key, { pattern, tz: 'UTC' }, template);
        return parseTickTime(tick?.id ?? '');
      }),
    fill: (connector, jobs) => fill(open().queueBackend, connector, jobs),
    async close() {
      await opened?.queues.close();
      await opened?.queueBackend.close();
    },
  };
}
