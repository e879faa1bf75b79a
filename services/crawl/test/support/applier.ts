import { randomUUID } from 'node:crypto';
import { createLogger, HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { NewSchedule } from '../../src/db/schedules.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { type Applier, createApplier } from '../../src/queue/applier.js';
import type { CrawlQueues } from '../../src/queue/queues.js';
import type { Backend } from './platform.js';
import { openQueueView, type QueueView } from './queue-view.js';
import { connector, newSchedule, openTestQueues, type TestQueues } from './test-queues.js';

/* Schedules as rows, their queues, and appliers that a test starts and delays. */

/** Gives the tests of a `describe` a database and a queue backend of their own. */
export function useApplier(backend: Backend) {
  const log = createLogger('test', 'silent');
  let testQueues: TestQueues;
  let pool: pg.Pool;
  let view: QueueView;
  const started: Applier[] = [];
  beforeAll(async () => {
    testQueues = await openTestQueues(backend);
    pool = new pg.Pool({ connectionString: testQueues.location.databaseUrl });
    view = openQueueView(testQueues.location);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((applier) => applier.stop()));
    await pool.query('truncate schedules');
    for (const own of [connector, 'files_2'] as const)
      for (const { key } of await view.listSchedulers(own)) await view.removeScheduler(own, key);
  });
  afterAll(async () => {
    await view.close();
    await pool.end();
    await testQueues.close();
  });

  function newApplier(given: Partial<CrawlQueues> = {}): Applier {
    const metrics = createCrawlMetrics(new Registry());
    const queues = { ...testQueues.queues, ...given };
    const applier = createApplier({ pool, queues, clock: Date.now, metrics, log });
    started.push(applier);
    return applier;
  }
  const orgId = randomUUID();
  const wanted = (type: object = { scheduleType: 'daily', hour: 2, minute: 15 }): NewSchedule => ({
    ...newSchedule(type, new Date(Date.now() + HOUR_MS)),
    orgId,
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
  /** Ends the leases of all rows, as after the death of a replica that had claimed them. */
  const endLeases = () => pool.query('update schedules set apply_at = now() where apply_at is not null');
  return {
    get pool() {
      return pool;
    },
    get queues() {
      return testQueues.queues;
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
