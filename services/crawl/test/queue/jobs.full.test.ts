import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { type Queue, UnrecoverableError } from 'bullmq';
import { loadCrawlConfig } from '../../src/config.js';
import { toQueueName } from '../../src/domain/connectors.js';
import { type CrawlJobDeps, createProcessor } from '../../src/engine/crawl.job.js';
import type { CrawlWorker, Processor } from '../../src/queue/backend.js';
import { toJobId } from '../../src/queue/job.js';
import type { CrawlQueues } from '../../src/queue/queues.js';
import { describeEachBackend } from '../support/platform.js';
import { connector, openTestQueues, type TestQueues } from '../support/test-queues.js';

const MORE_THAN_KEPT = 14;

/** CRAWL-27: how many jobs are kept, with the default settings of the service. */
describeEachBackend('the jobs of a queue on %s', (backend) => {
  const { QUEUE_CONCURRENCY } = loadCrawlConfig({
    DATABASE_URL: 'postgresql://crawl@db/crawl',
    IDENTITY_URL: 'http://identity:3001',
    SERVICE_CLIENT_SECRET: 's'.repeat(32),
  });
  let testQueues: TestQueues;
  let queues: CrawlQueues;
  let queue: Queue;
  let worker: CrawlWorker | undefined;
  beforeAll(async () => {
    const settings = { concurrency: QUEUE_CONCURRENCY };
    testQueues = await openTestQueues(backend, settings);
    ({ queues } = testQueues);
    queue = testQueues.queueBackend.queue(toQueueName(connector), {}) as Queue;
  });
  afterEach(() => worker?.close());
  afterAll(async () => {
    await queue.close();
    await testQueues.close();
  });

  /** Processes one job at a time: on PostgreSQL two jobs that end together can leave one too many until the next one ends. */
  const work = (processor: Processor) => {
    worker = testQueues.queueBackend.worker(toQueueName(connector), processor, { concurrency: 1 });
  };
  /** Returns the id of the run's job. */
  async function addRun(id: string = randomUUID()): Promise<string> {
    const run = { id, claimCount: 0, isHeldBack: false };
    await queues.add([{ ...run, orgId: randomUUID(), connector, instance: 'default', worker: 'event' }]);
    return toJobId(run);
  }

  it('keeps the last 10 completed and the last 10 failed jobs', async () => {
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
    await waitFor(
      async () => {
        const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
        return waiting + active === 0;
      },
      { what: 'the end of all' },
    );
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 10, failed: 10 });
    const states = await Promise.all(ids.map((id) => queues.jobState(connector, id)));
    // The oldest jobs were removed.
    expect(states.slice(0, 4)).toEqual(Array(4).fill('unknown'));
  });

  it('a run that could not be claimed is delivered again', async () => {
    let claims = 0;
    const lifecycle: Partial<CrawlJobDeps['lifecycle']> = {
      claim: () => (++claims === 1 ? Promise.reject(new Error('no claim')) : Promise.resolve(undefined)),
    };
    work(createProcessor({ lifecycle, stopping: AbortSignal.abort() } as unknown as CrawlJobDeps));
    const runId = randomUUID();
    const jobId = await addRun(runId);
    await waitFor(async () => claims === 1 && (await queues.jobState(connector, jobId)) === 'unknown', {
      what: 'the removal of the job',
    });
    await addRun(runId);
    expect(await waitFor(() => claims === 2, { what: 'the second delivery' })).toBe(true);
  });
});
