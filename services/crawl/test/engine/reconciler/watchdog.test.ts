import { createLogger } from '@platform/service-kit';
import { Registry } from 'prom-client';
import { findStatus } from '../../../src/db/schedule-status.js';
import { createCrawlMetrics } from '../../../src/engine/metrics.js';
import { createWatchdog } from '../../../src/engine/reconciler/watchdog.js';
import { createQueueBackend, type QueueBackend } from '../../../src/queue/backend.js';
import { type CrawlQueues, openQueues } from '../../../src/queue/queues.js';
import { at, times, useRunRows } from '../../support/run-rows.js';

const MINUTE_MS = 60_000;

describe('the watchdog, when the job of a schedule is lost', () => {
  const rows = useRunRows();
  const log = createLogger('test', 'silent');
  let queueBackend: QueueBackend;
  let queues: CrawlQueues;
  beforeAll(() => {
    queueBackend = createQueueBackend({
      redisUrl: undefined,
      databaseUrl: rows.databaseUrl,
      maxWorkers: 0,
      log,
    });
    queues = openQueues({ queueBackend, retryDelayMs: 1_000, concurrency: 5, clock: () => rows.now, log });
  });
  afterAll(async () => {
    await queues.close();
    await queueBackend.close();
  });

  const watch = () =>
    createWatchdog({
      pool: rows.pool,
      queues,
      applier: { wake: () => undefined },
      clock: () => rows.now,
      metrics: createCrawlMetrics(new Registry()),
      log,
      overdueGraceMs: MINUTE_MS,
      misfireGraceMs: times.misfireGraceMs,
    })(new AbortController().signal);
  const getExpected = async (orgId: string) => {
    const found = await findStatus(rows.pool, orgId, 'files_1');
    return [found?.schedule.nextRunAt?.getTime(), found?.schedule.missedRuns];
  };

  it('skips a late run of a schedule with the policy skip, whose next tick still runs', async () => {
    const { id, orgId, job } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    rows.now = at + times.misfireGraceMs + 5;
    await watch();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'skipped' }]);
    expect(await getExpected(orgId)).toEqual([at + MINUTE_MS, 1]);
    expect(await rows.newLifecycle().claim(job(at + MINUTE_MS))).toMatchObject({
      run: { scheduledFor: new Date(at + MINUTE_MS) },
    });
    expect((await rows.getRuns(id)).map(({ state }) => state)).toEqual(['skipped', 'active']);
    // The run counts for all times that have passed.
    expect(await getExpected(orgId)).toEqual([at + times.misfireGraceMs + MINUTE_MS, 1]);
  });

  it('starts one run for all missed ones within the grace of a schedule with the policy skip', async () => {
    const { id, orgId, job } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    rows.now = at + 2 * MINUTE_MS + 5;
    await watch();
    expect(await rows.getRuns(id)).toEqual([{ state: 'waiting', reason: null }]);
    expect(await getExpected(orgId)).toEqual([at + 3 * MINUTE_MS, 1]);
    // The later ticks start no run, because the run of the watchdog counts for them too.
    for (const minute of [1, 2])
      expect(await rows.newLifecycle().claim(job(at + minute * MINUTE_MS))).toBeUndefined();
    expect(await rows.getRuns(id)).toHaveLength(1);
  });

  it('skips a one-off schedule with the policy skip only when it is too late', async () => {
    const [inTime, late] = [
      await rows.scheduleOnce({ missedRunPolicy: 'skip' }),
      await rows.scheduleOnce({ missedRunPolicy: 'skip' }),
    ];
    await rows.pool.query('update schedules set next_run_at = $2 where id = $1', [
      late.id,
      new Date(at - times.misfireGraceMs),
    ]);
    rows.now = at + MINUTE_MS + 5;
    await watch();
    expect(await rows.getRuns(inTime.id)).toMatchObject([{ state: 'waiting' }]);
    expect(await rows.getRuns(late.id)).toMatchObject([{ state: 'skipped' }]);
  });

  it('starts one late run for all missed ones of a schedule with the policy run_once', async () => {
    const { id, orgId, job } = await rows.scheduleMinutely();
    rows.now = at + 10 * MINUTE_MS + 5;
    await watch();
    expect(await rows.newLifecycle().claim(job(at + 10 * MINUTE_MS))).toBeUndefined();
    expect((await rows.getRuns(id)).map(({ state }) => state)).toEqual(['waiting']);
    expect(await getExpected(orgId)).toEqual([at + 11 * MINUTE_MS, 1]);
  });

  it('starts no run when a tick claims the schedule at the same time', async () => {
    const { id, orgId } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    rows.now = at + MINUTE_MS + 5;
    const tick = await rows.pool.connect();
    await tick.query('begin');
    const next = new Date(at + 2 * MINUTE_MS);
    await tick.query('update schedules set next_run_at = $2, missed_runs = 1 where id = $1', [id, next]);
    const watching = watch();
    await rows.waitForLock();
    await tick.query('commit');
    tick.release();
    await watching;
    expect(await rows.getRuns(id)).toEqual([]);
    expect(await getExpected(orgId)).toEqual([next.getTime(), 1]);
  });
});
