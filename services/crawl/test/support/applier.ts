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
import pg from 'pg';
import { Registry } from 'prom-client';
import type { NewSchedule } from '../../src/db/schedules.js';
import type { ScheduleConfig } from '../../src/domain/schedule-config.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { type Applier, createApplier } from '../../src/queue/applier.js';
import { createQueueBackend, type QueueBackend, migrateQueues } from '../../src/queue/backend.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import type { Backend } from './platform.js';
import { openQueueView, type QueueView } from './queue-view.js';

/* Schedules as rows, their queue, and appliers that a test starts and holds up. */

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', `file://${__filename}`));

export const connector = 'files_1';
export const HOUR_MS = 3_600_000;

/** For the tests of a `describe`: a database and a backend of their own, from before the first to after the last. */
export function useApplier(backend: Backend) {
  const log = createLogger('test', 'silent');
  let database: TestDatabase;
  let pool: pg.Pool;
  let redis: OwnRedis | undefined;
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  let view: QueueView;
  const started: Applier[] = [];
  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'crawl-queues',
      migrationsDir,
      migrate: async (url) => {
        await migrate(url, migrationsDir);
        await migrateQueues(url);
      },
    });
    pool = new pg.Pool({ connectionString: database.url });
    redis = backend === 'redis' ? await startOwnRedis() : undefined;
    const where = { redisUrl: redis?.url, databaseUrl: database.url };
    queueBackend = createQueueBackend({ ...where, maxWorkers: connectors.length, log });
    queues = openQueues({ queueBackend, retryDelayMs: 100, concurrency: 5, clock: Date.now, log });
    view = openQueueView(where);
    await waitFor(() => queueBackend.ping().then(() => true, () => false), { what: 'the backend' }); // prettier-ignore
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((applier) => applier.stop()));
    await pool.query('truncate schedules');
    for (const own of [connector, 'files_2'] as const)
      for (const { key } of await view.listSchedulers(own)) await view.removeScheduler(own, key);
  });
  afterAll(async () => {
    await view.close();
    await queues.close();
    await queueBackend.close();
    await redis?.close();
    await pool.end();
    await database.drop();
  });

  function newApplier(given: Partial<CrawlQueues> = {}): Applier {
    const metrics = createCrawlMetrics(new Registry());
    const applier = createApplier({ pool, queues: { ...queues, ...given }, clock: Date.now, metrics, log });
    started.push(applier);
    return applier;
  }
  const orgId = randomUUID();
  const wanted = (type: object = { scheduleType: 'daily', hour: 2, minute: 15 }): NewSchedule => ({
    id: randomUUID(),
    orgId,
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
    scheduledAt: new Date(),
    anchorAt: new Date(),
    nextRunAt: new Date(Date.now() + HOUR_MS),
  });
  const revisionsQueued = async () => (await view.listSchedulers(connector)).map(({ revision }) => revision);
  const rows = async () =>
    (
      await pool.query<{ state: string; isApplied: boolean; queued: number[] }>(
        `select state, apply_at is null as "isApplied", queued_revisions::float8[] as queued from schedules`,
      )
    ).rows;
  const applied = () =>
    waitFor(async () => (await rows()).every(({ isApplied }) => isApplied), { what: 'an applied row' });
  /** As for a replica that died with rows in its hands. */
  const endLeases = () => pool.query('update schedules set apply_at = now() where apply_at is not null');
  return {
    get pool() {
      return pool;
    },
    get queues() {
      return queues;
    },
    get view() {
      return view;
    },
    orgId,
    newApplier,
    wanted,
    revisionsQueued,
    rows,
    applied,
    endLeases,
  };
}
