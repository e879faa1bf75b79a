import { randomUUID } from 'node:crypto';
import { connectors } from '@platform/events';
import { createLogger } from '@platform/service-kit';
import { createTestDatabase, type OwnRedis, startOwnRedis, type TestDatabase, waitFor } from '@platform/testing';
import { jobKeyOf, queueNameOf } from '../../src/connectors.js';
import { createEngine, type Engine, migrateQueues } from '../../src/features/queues/engine.js';
import { onceJobId, tickJobId } from '../../src/features/queues/job.js';
import { type CrawlQueues, openQueues } from '../../src/features/queues/queues.js';
import { nextRunAfter, planOf } from '../../src/features/schedules/plan.js';
import type { Schedule } from '../../src/features/schedules/queries.js';
import type { ScheduleConfig } from '../../src/features/schedules/schemas.js';
import { backends } from '../support/platform.js';

describe.each(backends)('the queues on %s', (backend) => {
  const log = createLogger('test', 'silent');
  const connector = 'files_1';
  let database: TestDatabase;
  let redis: OwnRedis | undefined;
  let engine: Engine;
  let queues: CrawlQueues;
  let aheadMs = 0;
  beforeAll(async () => {
    database = await createTestDatabase({ template: 'crawl-queues', migrationsDir: __dirname, migrate: migrateQueues });
    redis = backend === 'redis' ? await startOwnRedis() : undefined;
    engine = createEngine({ redisUrl: redis?.url, databaseUrl: database.url, workersMax: connectors.length, log });
    queues = openQueues({ engine, retryDelayMs: 100, clock: () => Date.now() + aheadMs, log });
    await waitFor(() => engine.ping().then(() => true, () => false), { what: 'the backend' }); // prettier-ignore
  }, 60_000);
  afterAll(async () => {
    await queues.close();
    await engine.close();
    await redis?.close();
    await database.drop();
  }, 30_000);
  beforeEach(() => (aheadMs = 0));

  const scheduleOf = (type: object, nextRunAt: Date): Schedule => ({
    id: randomUUID(),
    orgId: randomUUID(),
    connector,
    userId: randomUUID(),
    config: { timezone: 'UTC', isEnabled: true, jitterMs: 0, missedRunPolicy: 'run_once', ...type } as ScheduleConfig,
    priority: 5,
    maxRetries: 0,
    timeoutMs: 1_000,
    metadata: null,
    state: 'active',
    revision: 1,
    scheduledAt: new Date(),
    pausedAt: null,
    nextRunAt,
    overdueSince: null,
    missedRuns: 0,
  });

  it('a schedule is taken although the clock stepped back over a time that has run already', async () => {
    const schedule = scheduleOf({ scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 }, new Date());
    const key = jobKeyOf(connector, schedule.orgId);
    const jobId = tickJobId(key, nextRunAfter(planOf(schedule.config, key), Date.now()) ?? 0);
    const queue = engine.queue(queueNameOf(connector), {});
    await queue.add('tick', { kind: 'run', orgId: schedule.orgId, connector, runId: 'x' }, { jobId });
    const worker = engine.worker(queueNameOf(connector), () => Promise.resolve(), {});
    await waitFor(async () => (await queues.jobState(connector, jobId)) === 'completed', { what: 'the first run' });
    await worker.close();
    await queues.apply(schedule);
    expect(await queues.jobState(connector, jobId)).toBe('delayed');
    expect(await queues.findScheduler(connector, key)).toMatchObject({ scheduleId: schedule.id });
    await queue.close();
  });

  it("a one-off job's time is told by the service's clock", async () => {
    aheadMs = 3_600_000;
    const nextRunAt = new Date(Date.now() + aheadMs - 1);
    const schedule = scheduleOf({ scheduleType: 'once', scheduledTime: nextRunAt.toISOString() }, nextRunAt);
    await queues.apply(schedule);
    expect(await queues.jobState(connector, onceJobId(schedule.id, 1))).toBe('waiting');
  });
});
