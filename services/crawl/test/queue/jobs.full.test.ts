import { createLogger } from '@platform/service-kit';
import { type OwnRedis, startOwnRedis, type TestDatabase, waitFor } from '@platform/testing';
import type { Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { createQueueBackend, type CrawlWorker, type QueueBackend } from '../../src/queue/backend.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import { createCrawlDatabase } from '../support/database.js';
import { describeEachBackend } from '../support/platform.js';

const connector = 'files_1';
const LIMIT = 5;

describeEachBackend('the jobs of a queue on %s', (backend) => {
  let database: TestDatabase;
  let redis: OwnRedis | undefined;
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  let queue: Queue;
  let worker: CrawlWorker | undefined;
  beforeAll(async () => {
    const log = createLogger('test', 'silent');
    database = await createCrawlDatabase();
    redis = backend === 'redis' ? await startOwnRedis() : undefined;
    queueBackend = createQueueBackend({
      redis: redis && { url: redis.url, sentinels: [], sentinelPassword: undefined },
      databaseUrl: database.url,
      maxWorkers: 1,
      log,
    });
    await waitFor(() => queueBackend.probe().then(() => true), { what: 'the backend' });
    queues = openQueues({ queueBackend, concurrency: LIMIT, log });
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

  it('are never more than its places, however often it is announced, and leave nothing behind', async () => {
    for (let time = 0; time < 3; time += 1) await queues.announce(new Map([[connector, 2]]));
    expect(await queue.getWaitingCount()).toBe(2);
    for (let time = 0; time < 3; time += 1) await queues.announce(new Map([[connector, 1_000]]));
    expect(await queue.getWaitingCount()).toBe(LIMIT);
    let processed = 0;
    worker = queueBackend.worker(
      toQueueName(connector),
      () => {
        processed += 1;
        return processed % 2 === 0 ? Promise.reject(new Error('no')) : Promise.resolve();
      },
      { concurrency: LIMIT },
    );
    const counts = () => queue.getJobCounts('waiting', 'active', 'completed', 'failed', 'delayed');
    const none = { waiting: 0, active: 0, completed: 0, failed: 0, delayed: 0 };
    await waitFor(async () => JSON.stringify(await counts()) === JSON.stringify(none), {
      what: 'the end of all',
    });
    expect(processed).toBe(LIMIT);
    // A worker that is waiting is woken.
    await queues.announce(new Map([[connector, 1]]));
    await waitFor(() => processed === LIMIT + 1, { what: 'the next job' });
  });
});
