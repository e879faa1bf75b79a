import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@platform/service-kit';
import {
  createTestDatabase,
  type OwnRedis,
  startOwnRedis,
  type TestDatabase,
  waitFor,
} from '@platform/testing';
import { type Job, type Queue, UnrecoverableError } from 'bullmq';
import { loadCrawlConfig } from '../../src/config.js';
import { toQueueName } from '../../src/domain/connectors.js';
import {
  createQueueBackend,
  type CrawlWorker,
  type QueueBackend,
  migrateQueues,
  type Processor,
} from '../../src/queue/backend.js';
import { runJobId } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import { describeEachBackend } from '../support/platform.js';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', `file://${__filename}`));
const connector = 'files_1';
const MORE_THAN_KEPT = 14;

/** CRAWL-25 and CRAWL-27: how jobs are retried, and how many are kept. With the settings that a service has by itself. */
describeEachBackend('the jobs of a queue on %s', (backend) => {
  const log = createLogger('test', 'silent');
  const { RETRY_DELAY_MS, QUEUE_CONCURRENCY } = loadCrawlConfig({
    DATABASE_URL: 'postgresql://crawl@db/crawl',
    IDENTITY_URL: 'http://identity:3001',
    SERVICE_CLIENT_SECRET: 's'.repeat(32),
  });
  let database: TestDatabase;
  let redis: OwnRedis | undefined;
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  let queue: Queue;
  let worker: CrawlWorker | undefined;
  beforeAll(async () => {
    database = await createTestDatabase({ template: 'queues-only', migrationsDir, migrate: migrateQueues });
    redis = backend === 'redis' ? await startOwnRedis() : undefined;
    queueBackend = createQueueBackend({
      redisUrl: redis?.url,
      databaseUrl: database.url,
      maxWorkers: 1,
      log,
    });
    queues = openQueues({
      queueBackend,
      retryDelayMs: RETRY_DELAY_MS,
      concurrency: QUEUE_CONCURRENCY,
      clock: Date.now,
      log,
    });
    await waitFor(() => queueBackend.ping().then(() => true, () => false), { what: 'the backend' }); // prettier-ignore
    queue = queueBackend.queue(toQueueName(connector), {}) as Queue;
  });
  afterEach(() => worker?.close());
  afterAll(async () => {
    await queue.close();
    await queues.close();
    await queueBackend.close();
    await redis?.close();
    await database.drop();
  });

  /** One at a time: on PostgreSQL the ends of two at once can leave one more in the history, until the next one ends. */
  const work = (processor: Processor) => {
    worker = queueBackend.worker(toQueueName(connector), processor, { concurrency: 1 });
  };
  /** @returns the id of its job. */
  async function addRun(attemptsLeft: number): Promise<string> {
    const runId = randomUUID();
    await queues.addRun({ runId, orgId: randomUUID(), connector, recoveries: 0, attemptsLeft });
    return runJobId(runId, 0);
  }

  it('the last 10 that completed and the last 10 that failed are kept', async () => {
    const failing = new Set<string>();
    const ids: string[] = [];
    for (let count = 0; count < 2 * MORE_THAN_KEPT; count += 1) {
      const id = await addRun(1);
      ids.push(id);
      if (count % 2 === 1) failing.add(id);
    }
    work(({ id = '' }) =>
      failing.has(id) ? Promise.reject(new UnrecoverableError('no')) : Promise.resolve('completed'),
    );
    await waitFor(
      async () => {
        const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
        return waiting + active === 0;
      },
      { what: 'the end of all', timeoutMs: 20_000 },
    );
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 10, failed: 10 });
    const states = await Promise.all(ids.map((id) => queues.jobState(connector, id)));
    // The first ones are gone.
    expect(states.slice(0, 4)).toEqual(Array(4).fill('unknown'));
  });

  it('a failed attempt is tried again after 5 s, then twice as late each time, and no more often than was asked for', async () => {
    let attempts = 0;
    work(() => {
      attempts += 1;
      return Promise.reject(new Error('no'));
    });
    const id = await addRun(4);
    const delays: number[] = [];
    for (let retry = 1; retry <= 3; retry += 1) {
      const job = await waitFor(
        async () => {
          const isDelayed = attempts === retry && (await queues.jobState(connector, id)) === 'delayed';
          return isDelayed && ((await queue.getJob(id)) as Job);
        },
        { what: `retry ${retry}`, timeoutMs: 20_000 },
      );
      delays.push(job.delay);
      await job.promote();
    }
    expect(delays).toEqual([5_000, 10_000, 20_000]);
    await waitFor(async () => (await queues.jobState(connector, id)) === 'failed', { what: 'the end' });
    expect(attempts).toBe(4);
  });
});
