import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { connectors } from '@platform/events';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, type TestDatabase } from '@platform/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import { readBacklog } from '../../src/db/dispatch.js';
import { createCrawlMetrics, registerBacklog } from '../../src/engine/metrics.js';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
const now = new Date('2030-01-01T00:00:00Z');
const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);

describe('the age of the queue', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'crawl-rows',
      migrationsDir,
      migrate: (url) => migrate(url, migrationsDir).then(() => undefined),
    });
    pool = new pg.Pool({ connectionString: database.url });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const insertSchedule = (orgId: string, nextRunAt: Date) =>
    pool.query(
      `insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, state, revision,
                              scheduled_at, next_run_at, anchor_at)
       values ($1, $2, 'wiki_1', $1, '{"scheduleType":"daily"}', 5, 3, 1000, 'active', 1, $3, $4, $3)`,
      [randomUUID(), orgId, before(1_000), nextRunAt],
    );
  const insertRun = (orgId: string, state: string, scheduledFor: Date) =>
    pool.query(
      `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, state, scheduled_for,
                         created_at, attempts_max, due_at)
       values ($1, $1, 1, $2, 'wiki_1', 'manual', $3, $4, $5, $5, 3, $5)`,
      [randomUUID(), orgId, randomUUID(), state, scheduledFor],
    );

  const read = () => readBacklog(pool, { now, overdueBefore: before(20), failingAfter: 3 });

  it('is that of the oldest schedule or run that is due and has not started', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    expect((await read()).oldestAgeSeconds).toBe(0);
    await insertSchedule(first, before(-60));
    expect((await read()).oldestAgeSeconds).toBe(0);
    await insertSchedule(second, before(90));
    expect((await read()).oldestAgeSeconds).toBe(90);
    await insertRun(second, 'active', before(100));
    expect((await read()).oldestAgeSeconds).toBe(0);
    expect((await read()).overdue).toBe(0);
    await insertRun(first, 'waiting', before(30));
    expect((await read()).overdue).toBe(1);
    expect((await read()).oldestAgeSeconds).toBe(30);
  });

  it('is exposed as a metric, and the counter of missed runs begins at zero', async () => {
    const registry = new Registry();
    createCrawlMetrics(registry);
    registerBacklog(registry, read);
    const text = await registry.metrics();
    expect(text).toContain('crawl_queue_oldest_age_seconds 30');
    expect(text).toContain('crawl_overdue_schedules 1');
    for (const connector of connectors)
      expect(text).toContain(`crawl_missed_runs_total{connector="${connector}",policy="run_once"} 0`);
  });
});
