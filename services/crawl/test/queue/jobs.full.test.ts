import { randomUUID } from 'node:crypto';
import { createLogger } from '@platform/service-kit';
import { type OwnRedis, startOwnRedis, type TestDatabase, waitFor } from '@platform/testing';
import { type Queue, UnrecoverableError } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { type CrawlJobDeps, createProcessor } from '../../src/engine/crawl.job.js';
import {
  createQueueBackend,
  type CrawlWorker,
  type Processor,
  type QueueBackend,
} from '../../src/queue/backend.js';
import { toJobId } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import { createCrawlDatabase } from '../support/database.js';
import { describeEachBackend } from '../support/platform.js';

const connector = 'files_1';
const MORE_THAN_KEPT = 12;

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
      redisUrl: redis?.url,
      databaseUrl: database.url,
      maxWorkers: 1,
      log,
    });
    await waitFor(() => queueBackend.ping().then(() => true), { what: 'the backend' });
    queues = openQueues({ queueBackend, concurrency: 5, log });
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

  /** Processes one job at a time: on PostgreSQL two jobs that end together can leave one too many until the next one ends. */
  const work = (processor: Processor) => {
    worker = queueBackend.worker(toQueueName(connector), processor, { concurrency: 1 });
  };
  /** Returns the id of the run's job. */
  async function addRun(id: string = randomUUID()): Promise<string> {
    const run = { id, claimCount: 0, isHeldBack: false };
    await queues.add([{ ...run, orgId: randomUUID(), connector, instance: 'default', worker: 'event' }]);
    return toJobId(run);
  }

  it('are kept when they are the last 10 completed or the last 10 failed (CRAWL-27)', async () => {
    const failing = new Set<string>();
    const ids: string[] = [];
    for (let count = 0; count < 2 * MORE_THAN_KEPT; count += 1) {
      const id = await addRun();
      ids.push(id);
      if (count % 2 === 1) failing.add(id);
    }
    work(({ id = '' }) =>
      failing.has(id) ? Promise.reject(new UnrecoverableError('no')) : Promise.resolve('completed'),
    );
    const hasEnded = async () => {
      const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
      return waiting + active === 0;
    };
    await waitFor(hasEnded, { what: 'the end of all' });
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 10, failed: 10 });
    const states = await Promise.all(ids.map((id) => queues.jobState(connector, id)));
    expect(states.slice(0, 4)).toEqual(Array(4).fill('unknown'));
  });

  it('are not kept when their run could not be claimed, which is delivered again, nor when there was nothing to do', async () => {
    let claims = 0;
    const lifecycle: Partial<CrawlJobDeps['lifecycle']> = {
      claim: () => (++claims === 1 ? Promise.reject(new Error('no claim')) : Promise.resolve(undefined)),
    };
    work(createProcessor({ lifecycle, stopping: AbortSignal.abort() } as unknown as CrawlJobDeps));
    const runId = randomUUID();
    for (const delivery of [1, 2]) {
      const jobId = await addRun(runId);
      const isOver = async () =>
        claims === delivery && (await queues.jobState(connector, jobId)) === 'unknown';
      await waitFor(isOver, { what: 'the removal of the job' });
    }
    expect(claims).toBe(2);
  });
});
