import { randomUUID } from 'node:crypto';
import type { Connector } from '@platform/events';
import { createLogger } from '@platform/service-kit';
import { type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { ClaimedRow } from '../../src/db/claim-runs.js';
import type { NewRun } from '../../src/db/runs.js';
import type { NewSchedule } from '../../src/db/schedules.js';
import type { Actor } from '../../src/domain/act.js';
import type { InstanceKey } from '../../src/domain/instance-key.js';
import type { RunWorker } from '../../src/domain/run-worker.js';
import { createDispatcher } from '../../src/engine/dispatcher.job.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { createRunLifecycle } from '../../src/engine/run-lifecycle.js';
import { createCrawlDatabase } from './database.js';

/* Schedules and runs as rows, with a clock that the test sets and without a queue and workers. */

/** The time at which the clock of each test starts and the first run of every schedule is expected, in epoch ms. */
export const at = Date.parse('2030-01-01T00:00:00Z');
export const times = {
  leaseMs: 30_000,
  retryDelayMs: 1_000,
  misfireGraceMs: 300_000,
  overdueGraceMs: 60_000,
  endpointGraceMs: 90_000,
};
/** The most active runs of a connector. */
export const LIMIT = 5;

/** Names the connector that has the schedules of these tests. */
export const filesOf = (orgId: string): InstanceKey => ({ orgId, connector: 'files_1', instance: 'default' });

/** Acts in the tests of services without HTTP. */
export const actor: Actor = {
  actorId: '01900000-0000-7000-8000-000000000001',
  credential: { kind: 'session', id: '01900000-0000-7000-8000-000000000002' },
  address: '127.0.0.1',
  userAgent: null,
  requestId: null,
};

/** Returns a schedule that runs daily at midnight. */
export const toNewSchedule = (key: InstanceKey): NewSchedule => ({
  ...key,
  id: randomUUID(),
  userId: randomUUID(),
  config: {
    scheduleType: 'daily',
    hour: 0,
    minute: 0,
    timezone: 'UTC',
    isEnabled: true,
    jitterMs: 0,
    missedRunPolicy: 'run_once',
  },
  priority: 5,
  maxRetries: 0,
  timeoutMs: 60_000,
  metadata: null,
  worker: 'event',
  fullEveryDays: null,
  endpointId: null,
  scheduledAt: new Date(at),
  anchorAt: new Date(at),
  nextRunAt: new Date(at),
});

/** @throws Error when the worker has claimed no run. */
export function expectClaimed(claimed: ClaimedRow | undefined): ClaimedRow {
  if (!claimed) throw new Error('not claimed');
  return claimed;
}

/** Gives the tests of a file their own database. */
export function useRunRows() {
  let database: TestDatabase;
  let pool: pg.Pool;
  const registry = new Registry();
  const metrics = createCrawlMetrics(registry);
  beforeAll(async () => {
    database = await createCrawlDatabase();
    pool = new pg.Pool({ connectionString: database.url });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });
  beforeEach(async () => {
    rows.now = at;
    await pool.query('truncate schedules, runs, connector_states, org_statistics, outbox.events cascade');
  });

  async function insertEndpoint(orgId: string): Promise<string> {
    const id = randomUUID();
    await pool.query(
      `insert into endpoints (id, org_id, url, description, secrets_sealed, created_by, created_at)
       values ($1, $2, 'https://crawler.example/', '', '', $1, now())`,
      [id, orgId],
    );
    return id;
  }
  async function insertSchedule(type: object, worker: RunWorker = 'event') {
    const [id, orgId] = [randomUUID(), randomUUID()];
    const endpointId = worker === 'endpoint' ? await insertEndpoint(orgId) : null;
    const config = { ...type, timezone: 'UTC' };
    // oxfmt-ignore
    await pool.query(
      `insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms,
         state, revision, scheduled_at, next_run_at, anchor_at, worker, endpoint_id)
       values ($1, $2, 'files_1', $3, $4, 5, 1, 60000, 'active', 1, $5, $5, $5, $6, $7)`,
      [
        id, orgId, randomUUID(), JSON.stringify({ jitterMs: 0, missedRunPolicy: 'run_once', ...config }), new Date(at),
        worker, endpointId,
      ],
    );
    /** Dispatches what is due. Returns the schedule's run, if it waits to be claimed. */
    const dispatchOwn = async () => {
      await dispatch();
      const found = await pool.query<{ id: string }>(
        `select id from runs where schedule_id = $1 and (state = 'waiting' or state = 'retrying' and due_at <= $2)`,
        [id, new Date(rows.now)],
      );
      return found.rows[0];
    };
    return {
      id,
      orgId,
      endpointId,
      connector: 'files_1',
      dispatch: dispatchOwn,
      /** Dispatches what is due, and claims the next run, which has to be that of the schedule. */
      claim: async () => {
        await dispatch();
        const run = expectClaimed(await rows.newLifecycle().claim('files_1'));
        expect(run.scheduleId).toBe(id);
        return run;
      },
    } as const;
  }
  /**
   * Does a round of the dispatcher, or its sweep. Returns the number of runs that were announced to the queue, by connector,
   * and the runs for workers that pull.
   *
   * @param isQueueAway - the queue is unavailable.
   */
  async function dispatch(isQueueAway = false, what: 'run' | 'sweep' = 'run') {
    const announced = new Map<Connector, number>();
    const pulled: NewRun[] = [];
    const dispatcher = createDispatcher({
      pool,
      queues: {
        announce(counts) {
          if (isQueueAway) return Promise.reject(new Error('The queue is unavailable'));
          for (const [connector, count] of counts)
            announced.set(connector, (announced.get(connector) ?? 0) + count);
          return Promise.resolve();
        },
      },
      clock: () => rows.now,
      metrics,
      log: createLogger('test', 'silent'),
      concurrency: LIMIT,
      overdueGraceMs: times.overdueGraceMs,
      misfireGraceMs: times.misfireGraceMs,
      renewLeases: async () => undefined,
      onClaimable: (runs) => void pulled.push(...runs),
    });
    try {
      await dispatcher[what]();
    } finally {
      await dispatcher.stop();
    }
    return { announced, pulled };
  }
  const rows = {
    /** The time of the clock, in epoch ms. */
    now: at,
    get pool() {
      return pool;
    },
    /** The metrics of the dispatcher. */
    registry,
    newLifecycle: () =>
      createRunLifecycle({
        pool,
        clock: () => rows.now,
        times,
        concurrency: LIMIT,
        failingAfter: 3,
        onEvent: () => undefined,
      }),
    dispatch,
    /** Returns what the sweep announces. */
    sweep: async () => (await dispatch(false, 'sweep')).announced,
    scheduleOnce(more: object = {}) {
      const scheduledTime = new Date(at).toISOString();
      return insertSchedule({ scheduleType: 'once', scheduledTime, ...more });
    },
    scheduleDaily: (worker?: RunWorker) =>
      insertSchedule({ scheduleType: 'daily', hour: 0, minute: 0 }, worker),
    scheduleMinutely: (more: object = {}) =>
      insertSchedule({ scheduleType: 'custom', cronExpression: '* * * * *', ...more }),
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
        `select coalesce((select sum(completed) from org_statistics where org_id = $1), 0)::int as completed,
           (select count(*) from outbox.events where org_id = $1::text)::int as events`,
        [orgId],
      );
      return found.rows[0];
    },
    /** Waits until a statement waits for a lock. */
    waitForLock: () =>
      // oxfmt-ignore
      waitFor(
        async () =>
          (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
            .rowCount === 1,
        { what: 'a statement that waits' },
      ),
  };
  return rows;
}
