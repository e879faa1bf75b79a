import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { connectors } from '@platform/events';
import { createLogger, migrate } from '@platform/service-kit';
import {
  createTestDatabase,
  type OwnRedis,
  startOwnRedis,
  type TestDatabase,
  waitFor,
} from '@platform/testing';
import type { Job, Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { nextRunsAfter, createPlan } from '../../src/domain/plan.js';
import type { ScheduleConfig } from '../../src/domain/schedule-config.js';
import type { Schedule } from '../../src/domain/schedule.js';
import { createQueueBackend, type QueueBackend, migrateQueues } from '../../src/queue/backend.js';
import { onceJobId, toSchedulerKey, tickJobId } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues, repeatSettings } from '../../src/queue/queues.js';
import { describeEachBackend } from '../support/platform.js';

const everything = { mayBeOneOff: true, kept: null };
const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', `file://${__filename}`));

describeEachBackend('the queues on %s', (backend) => {
  const log = createLogger('test', 'silent');
  const connector = 'files_1';
  let database: TestDatabase;
  let redis: OwnRedis | undefined;
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  let aheadMs = 0;
  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'crawl-queues',
      migrationsDir,
      migrate: async (url) => {
        await migrate(url, migrationsDir);
        await migrateQueues(url);
      },
    });
    redis = backend === 'redis' ? await startOwnRedis() : undefined;
    queueBackend = createQueueBackend({
      redisUrl: redis?.url,
      databaseUrl: database.url,
      maxWorkers: connectors.length,
      log,
    });
    queues = openQueues({
      queueBackend,
      retryDelayMs: 100,
      concurrency: 5,
      clock: () => Date.now() + aheadMs,
      log,
    });
    await waitFor(() => queueBackend.ping().then(() => true, () => false), { what: 'the backend' }); // prettier-ignore
  });
  afterAll(async () => {
    await queues.close();
    await queueBackend.close();
    await redis?.close();
    await database.drop();
  });
  beforeEach(() => (aheadMs = 0));

  const toSchedule = (type: object, nextRunAt: Date): Schedule => ({
    id: randomUUID(),
    orgId: randomUUID(),
    connector,
    userId: randomUUID(),
    config: {
      timezone: 'UTC',
      isEnabled: true,
      jitterMs: 0,
      missedRunPolicy: 'run_once',
      ...type,
    } as ScheduleConfig,
    priority: 5,
    maxRetries: 0,
    timeoutMs: 1_000,
    metadata: null,
    state: 'active',
    revision: 1,
    scheduledAt: new Date(),
    anchorAt: new Date(),
    pausedAt: null,
    nextRunAt,
    overdueSince: null,
    missedRuns: 0,
  });

  it('a clock that is set back over a job of a scheduler keeps no schedule from its next time', async () => {
    const schedule = toSchedule({ scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 }, new Date());
    const times = nextRunsAfter(createPlan(schedule), Date.now(), 2);
    const toTick = (revision: number, index: number) =>
      tickJobId(toSchedulerKey({ ...schedule, revision }), times[index] ?? 0);
    const queue = queueBackend.queue(toQueueName(connector), { settings: repeatSettings }) as Queue;
    // The scheduler's own job, which no backend lets anybody remove, is delivered before its time.
    await queues.apply(schedule);
    const first = (await queue.getJob(toTick(1, 0))) as Job;
    await first.promote();
    const worker = queueBackend.worker(toQueueName(connector), () => Promise.resolve(), {
      settings: repeatSettings,
    });
    await waitFor(async () => (await queues.jobState(connector, toTick(1, 0))) === 'completed', {
      what: 'the first run',
    });
    await worker.close();
    // Its scheduler is lost and made anew: that time has had its job, the one after it has not.
    await queues.clear(schedule, everything);
    await queues.apply(schedule);
    expect(await queues.jobState(connector, toTick(1, 0))).toBe('completed');
    expect(await queues.jobState(connector, toTick(1, 1))).toBe('delayed');
    // A later revision has every time of its own.
    const replaced = { ...schedule, revision: 2 };
    await queues.apply(replaced);
    await queues.clear(schedule, everything);
    expect(await queues.jobState(connector, toTick(2, 0))).toBe('delayed');
    expect(await queues.jobState(connector, toTick(1, 1))).toBe('unknown');
    expect([await queues.has(schedule), await queues.has(replaced)]).toEqual([false, true]);
    await queues.clear(replaced, everything);
    await queue.close();
  });

  it('a tick names the job scheduler that made it', async () => {
    const schedule = toSchedule({ scheduleType: 'daily', hour: 2, minute: 15 }, new Date());
    await queues.apply(schedule);
    const [at = 0] = nextRunsAfter(createPlan(schedule), Date.now(), 1);
    const tick = tickJobId(toSchedulerKey(schedule), at);
    expect(await queues.removeSchedulerOf(connector, tick)).toBe(true);
    expect(await queues.has(schedule)).toBe(false);
    expect(await queues.removeSchedulerOf(connector, tick)).toBe(false);
  });

  it("a one-off job's time is told by the service's clock", async () => {
    aheadMs = 3_600_000;
    const nextRunAt = new Date(Date.now() + aheadMs - 1);
    const schedule = toSchedule({ scheduleType: 'once', scheduledTime: nextRunAt.toISOString() }, nextRunAt);
    await queues.apply(schedule);
    expect(await queues.jobState(connector, onceJobId(schedule.id, 1))).toBe('waiting');
  });
});
