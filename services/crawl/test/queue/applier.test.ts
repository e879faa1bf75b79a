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
import { findSchedule, type NewSchedule, stopSchedules, upsertSchedule } from '../../src/db/schedules.js';
import type { ScheduleConfig } from '../../src/domain/schedule-config.js';
import type { Schedule } from '../../src/domain/schedule.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { type Applier, createApplier } from '../../src/queue/applier.js';
import { createEngine, type Engine, migrateQueues } from '../../src/queue/backend.js';
import { onceJobId } from '../../src/queue/job.js';
import { type CrawlQueues, openQueues } from '../../src/queue/queues.js';
import { describeEachBackend } from '../support/platform.js';
import { openQueueView, type QueueView } from '../support/queue-view.js';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', `file://${__filename}`));
const connector = 'files_1';
const HOUR_MS = 3_600_000;

describeEachBackend('the applier on %s', (backend) => {
  const log = createLogger('test', 'silent');
  let database: TestDatabase;
  let pool: pg.Pool;
  let redis: OwnRedis | undefined;
  let engine: Engine;
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
    engine = createEngine({ ...where, maxWorkers: connectors.length, log });
    queues = openQueues({ engine, retryDelayMs: 100, concurrency: 5, clock: Date.now, log });
    view = openQueueView(where);
    await waitFor(() => engine.ping().then(() => true, () => false), { what: 'the backend' }); // prettier-ignore
  }, 60_000);
  afterEach(async () => {
    await Promise.all(started.splice(0).map((applier) => applier.stop()));
    await pool.query('truncate schedules');
    for (const own of [connector, 'files_2'] as const)
      for (const { key } of await view.listSchedulers(own)) await view.removeScheduler(own, key);
  });
  afterAll(async () => {
    await view.close();
    await queues.close();
    await engine.close();
    await redis?.close();
    await pool.end();
    await database.drop();
  }, 30_000);

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

  it('brings many changes of one schedule to the queue as few, and ends at the last', async () => {
    const added: number[] = [];
    const applier = newApplier({
      apply: (schedule) => {
        added.push(schedule.revision);
        return queues.apply(schedule);
      },
    });
    let last: number | undefined;
    for (let count = 0; count < 100; count += 1) {
      last = await upsertSchedule(pool, wanted({ scheduleType: 'daily', hour: 2, minute: count % 60 }));
      if (count % 40 === 0) applier.wake();
    }
    applier.wake();
    await applied();
    expect(added.at(-1)).toBe(last);
    expect(added.length).toBeLessThan(50);
    expect(await revisionsQueued()).toEqual([last]);
  });

  it('adds for one that is active, and removes for one that is paused or removed, whose row it deletes', async () => {
    const applier = newApplier();
    const given = { orgId, connector, at: new Date() } as const;
    const first = await upsertSchedule(pool, wanted());
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([first]);
    expect(await stopSchedules(pool, 'paused', given)).toBe(true);
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([]);
    const second = await upsertSchedule(pool, wanted());
    applier.wake();
    await applied();
    expect(await revisionsQueued()).toEqual([second]);
    expect(await stopSchedules(pool, 'removed', given)).toBe(true);
    expect(await findSchedule(pool, orgId, connector)).toBeUndefined();
    applier.wake();
    await waitFor(async () => (await rows()).length === 0, { what: 'the end of the row' });
    expect(await revisionsQueued()).toEqual([]);
  });

  it('removes the job of a one-off that was replaced, and looks for none where there never was one', async () => {
    const scheduledTime = new Date(Date.now() + HOUR_MS).toISOString();
    const removals: boolean[] = [];
    const applier = newApplier({
      clear: (revision, options) => {
        removals.push(options.mayBeOneOff);
        return queues.clear(revision, options);
      },
    });
    const replace = async (type?: object) => {
      const revision = await upsertSchedule(pool, wanted(type));
      applier.wake();
      await applied();
      return revision ?? 0;
    };
    const oneOff = await replace({ scheduleType: 'once', scheduledTime });
    const { id } = (await findSchedule(pool, orgId, connector)) as Schedule;
    expect(await view.jobState(connector, onceJobId(id, oneOff))).toBe('delayed');
    await replace();
    expect(await view.jobState(connector, onceJobId(id, oneOff))).toBe('unknown');
    await replace({ scheduleType: 'daily', hour: 3, minute: 0 });
    expect(removals).toEqual([true, false]);
    // Replaced twice before the queue hears of it.
    const second = await replace({ scheduleType: 'once', scheduledTime });
    await upsertSchedule(pool, wanted());
    await replace({ scheduleType: 'daily', hour: 4, minute: 0 });
    expect(await view.jobState(connector, onceJobId(id, second))).toBe('unknown');
  });

  it('leaves a change that comes while it is at work to be applied next', async () => {
    let release = () => undefined as unknown;
    const asked: number[] = [];
    const applier = newApplier({
      async apply(schedule) {
        asked.push(schedule.revision);
        if (asked.length === 1) await new Promise((resolve) => (release = () => resolve(undefined)));
        return queues.apply(schedule);
      },
    });
    const first = await upsertSchedule(pool, wanted());
    applier.wake();
    await waitFor(() => asked.length === 1, { what: 'the first revision' });
    const second = await upsertSchedule(pool, wanted());
    expect(await rows()).toEqual([{ state: 'active', isApplied: false, queued: [first] }]);
    // Nobody else takes it meanwhile.
    const other = newApplier({ apply: () => Promise.reject(new Error('two at one row')) });
    other.wake();
    release();
    await applied();
    expect(asked).toEqual([first, second]);
    expect(await revisionsQueued()).toEqual([second]);
  });

  it('clears no mark once its lease has ended', async () => {
    let release = () => undefined as unknown;
    const slow = newApplier({
      async apply(schedule) {
        await new Promise((resolve) => (release = () => resolve(undefined)));
        return queues.apply(schedule);
      },
    });
    await upsertSchedule(pool, wanted());
    slow.wake();
    await waitFor(async () => (await rows())[0]?.queued.length === 1, { what: 'the claim' });
    const second = await upsertSchedule(pool, wanted());
    await endLeases();
    release();
    await slow.stop();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
    // Whoever takes it over knows of both.
    newApplier().wake();
    await applied();
    expect(await revisionsQueued()).toEqual([second]);
  });

  it('clears no mark of the same revision once its lease has ended: the queue may have lost its data since', async () => {
    let release = () => undefined as unknown;
    const slow = newApplier({
      async apply(schedule) {
        await new Promise((resolve) => (release = () => resolve(undefined)));
        return queues.apply(schedule);
      },
    });
    await upsertSchedule(pool, wanted());
    slow.wake();
    await waitFor(async () => (await rows())[0]?.queued.length === 1, { what: 'the claim' });
    await endLeases();
    release();
    await slow.stop();
    expect(await rows()).toMatchObject([{ isApplied: false }]);
  });

  it('goes on with what a replica has left: what that has added is not added again', async () => {
    const revision = await upsertSchedule(pool, wanted());
    const schedule = (await findSchedule(pool, orgId, connector)) as Schedule;
    // Died between the command and its answer.
    await pool.query('update schedules set queued_revisions = array[revision]');
    await queues.apply(schedule);
    const added: unknown[] = [];
    const applier = newApplier({
      apply: (again) => {
        added.push(again);
        return queues.apply(again);
      },
    });
    applier.wake();
    await applied();
    expect([added, await revisionsQueued()]).toEqual([[], [revision]]);
  });

  it('tries again what the queue refused, and tells the others meanwhile', async () => {
    let isAway = true;
    const applier = newApplier({
      apply: (schedule) =>
        isAway && schedule.connector === connector
          ? Promise.reject(new Error('away'))
          : queues.apply(schedule),
    });
    await upsertSchedule(pool, wanted());
    await upsertSchedule(pool, { ...wanted(), connector: 'files_2' });
    applier.start();
    await waitFor(async () => (await rows()).filter(({ isApplied }) => isApplied).length === 1, {
      what: 'the other one',
    });
    isAway = false;
    await applied();
    expect(await revisionsQueued()).toHaveLength(1);
  });

  it('makes anew what the queue has lost, expects no later time than the queue, and touches nothing else', async () => {
    const scheduledTime = new Date(Date.now() + HOUR_MS).toISOString();
    await upsertSchedule(pool, wanted({ scheduleType: 'hourly', minute: 7, interval: 1 }));
    await upsertSchedule(pool, { ...wanted({ scheduleType: 'once', scheduledTime }), connector: 'files_2' });
    const applier = newApplier();
    applier.wake();
    await applied();
    for (const { key } of await view.listSchedulers(connector)) await view.removeScheduler(connector, key);
    await pool.query(
      `update schedules set next_run_at = next_run_at + interval '6 hours' where connector = $1`,
      [connector],
    );
    const added: string[] = [];
    const again = newApplier({
      apply: (schedule) => {
        added.push(schedule.connector);
        return queues.apply(schedule);
      },
    });
    expect(await again.rebuild(() => false)).toBe(true);
    await applied();
    expect([added, (await revisionsQueued()).length]).toEqual([[connector], 1]);
    const schedule = await findSchedule(pool, orgId, connector);
    expect(schedule?.nextRunAt?.getTime()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
  });

  it('deletes no row that was scheduled again while it removed', async () => {
    let release = () => undefined as unknown;
    let isAsked = false;
    await upsertSchedule(pool, wanted());
    const applier = newApplier({
      async clear(revision, options) {
        isAsked = true;
        await new Promise((resolve) => (release = () => resolve(undefined)));
        return queues.clear(revision, options);
      },
    });
    newApplier().wake();
    await applied();
    await stopSchedules(pool, 'removed', { orgId, connector, at: new Date() });
    applier.wake();
    await waitFor(() => isAsked, { what: 'the removal' });
    const revision = await upsertSchedule(pool, wanted());
    release();
    await applied();
    expect(await rows()).toEqual([{ state: 'active', isApplied: true, queued: [] }]);
    expect(await revisionsQueued()).toEqual([revision]);
  });
});
