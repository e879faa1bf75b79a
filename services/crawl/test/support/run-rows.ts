import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import type { ClaimedRun, DeferredRun } from '../../src/engine/claimed-run.js';
import { createRunLifecycle } from '../../src/engine/run-lifecycle.js';
import { migrateQueues } from '../../src/queue/migrations.js';
import { type CrawlJob, toOnceJobId, toTickJobId } from '../../src/queue/job.js';

/* Schedules and runs as rows, with a clock that the test sets and without workers. */

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** The time at which the clock of each test starts and the first run of every schedule is expected, in epoch ms. */
export const at = Date.parse('2030-01-01T00:00:00Z');
export const times = {
  leaseMs: 30_000,
  retryDelayMs: 1_000,
  misfireGraceMs: 300_000,
  endpointGraceMs: 90_000,
};

/** @throws Error when the worker has claimed no run. */
export function expectClaimed(claimed: ClaimedRun | DeferredRun | undefined): ClaimedRun {
  if (!claimed || 'deferredUntil' in claimed) throw new Error('not begun');
  return claimed;
}

/** Gives the tests of a file a database of their own. */
export function useRunRows() {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'crawl-rows-and-queues',
      migrationsDir,
      migrate: async (url) => {
        await migrate(url, migrationsDir);
        await migrateQueues(url);
      },
    });
    pool = new pg.Pool({ connectionString: database.url });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });
  beforeEach(() => (rows.now = at));

  async function insertSchedule(type: object) {
    const [id, orgId] = [randomUUID(), randomUUID()];
    const config = { ...type, timezone: 'UTC' };
    // prettier-ignore
    await pool.query(
      `insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms,
         state, revision, scheduled_at, next_run_at, anchor_at)
       values ($1, $2, 'files_1', $3, $4, 5, 1, 60000, 'active', 1, $5, $5, $5)`,
      [id, orgId, randomUUID(), JSON.stringify({ jitterMs: 0, missedRunPolicy: 'run_once', ...config }), new Date(at)],
    );
    return { id, orgId, connector: 'files_1', scheduleId: id, revision: 1 } as const;
  }
  /** Inserts a recurring schedule. Returns it with a function that creates the job of a time. */
  async function scheduleTicks(type: object, pattern: string) {
    const schedule = await insertSchedule(type);
    const job = (time: number, attemptsMade = 0) =>
      ({
        id: toTickJobId('crawl', time),
        data: { ...schedule, kind: 'tick' },
        opts: { repeat: { pattern, tz: 'UTC' } },
        attemptsMade,
      }) as unknown as CrawlJob;
    return { ...schedule, job };
  }
  const rows = {
    /** The time of the clock, in epoch ms. */
    now: at,
    get pool() {
      return pool;
    },
    get databaseUrl() {
      return database.url;
    },
    newLifecycle: () =>
      createRunLifecycle({
        pool,
        clock: () => rows.now,
        times,
        onEvent: () => undefined,
        onStale: () => Promise.resolve(),
      }),
    async scheduleOnce(more: object = {}) {
      const scheduledTime = new Date(at).toISOString();
      const schedule = await insertSchedule({ scheduleType: 'once', scheduledTime, ...more });
      const data = { ...schedule, kind: 'once', at };
      const job = { id: toOnceJobId(schedule.id, 1), attemptsMade: 0, data } as unknown as CrawlJob;
      return { ...schedule, job };
    },
    scheduleDaily: () => scheduleTicks({ scheduleType: 'daily', hour: 0, minute: 0 }, '0 0 * * *'),
    scheduleMinutely: (more: object = {}) =>
      scheduleTicks({ scheduleType: 'custom', cronExpression: '* * * * *', ...more }, '* * * * *'),
    /** Returns the runs of a schedule in the order in which they were created. */
    async getRuns(id: string) {
      const found = await pool.query<{ state: string; reason: string | null }>(
        'select state, reason from runs where schedule_id = $1 order by id',
        [id],
      );
      return found.rows;
    },
    /** Returns the number of an organisation's completed runs in its statistics, and the number of their events. */
    async getCount(orgId: string) {
      const found = await pool.query<{ completed: number; events: number }>(
        `select coalesce((select completed from org_statistics where org_id = $1), 0)::int as completed,
           (select count(*) from sync_events.outbox where org_id = $1::text)::int as events`,
        [orgId],
      );
      return found.rows[0];
    },
    /** Waits until a statement waits for a lock. */
    waitForLock: () =>
      // prettier-ignore
      waitFor(
        async () =>
          (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
            .rowCount === 1,
        { what: 'a statement that waits' },
      ),
  };
  return rows;
}
