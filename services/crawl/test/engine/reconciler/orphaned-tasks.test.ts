import { createLogger } from '@platform/service-kit';
import { Registry } from 'prom-client';
import { saveTaskLocation } from '../../../src/db/claimed-runs.js';
import { requeueLost } from '../../../src/db/lost-runs.js';
import { stopSchedules } from '../../../src/db/schedules.js';
import { createCrawlMetrics } from '../../../src/engine/metrics.js';
import { createOrphanedTasks } from '../../../src/engine/reconciler/orphaned-tasks.js';
import { createTasks, type Tasks } from '../../../src/engine/tasks/tasks.js';
import { type Endpoint, startEndpoint } from '../../support/endpoint.js';
import { at, expectClaimed, times, useRunRows } from '../../support/run-rows.js';

describe('the remote task of a run that was paused while no worker had claimed it', () => {
  const rows = useRunRows();
  let endpoint: Endpoint;
  let tasks: Tasks;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    const secrets = new Map([['files_1', [Buffer.alloc(32)]]]);
    tasks = createTasks({ endpoints: new Map([['files_1', endpoint.url]]), secrets, clock: () => rows.now });
  });
  beforeEach(() => (endpoint.asked.length = 0));
  afterAll(async () => {
    await tasks.close();
    await endpoint.close();
  });

  const reconcile = () =>
    createOrphanedTasks({
      pool: rows.pool,
      cancelTask: tasks.cancel,
      clock: () => rows.now,
      metrics: createCrawlMetrics(new Registry()),
      log: createLogger('test', 'silent'),
    })();
  /** Loses a run after its task was accepted, and pauses it before another worker claims it. */
  async function pauseLostRun(location = new URL('/tasks/7', endpoint.url).href): Promise<void> {
    const { orgId, job } = await rows.scheduleDaily();
    const { run } = expectClaimed(await rows.newLifecycle().claim(job(at)));
    await saveTaskLocation(rows.pool, run, location);
    rows.now += times.leaseMs + 1;
    const now = new Date(rows.now);
    await requeueLost(rows.pool, run, { now, until: new Date(rows.now + 60_000), jobId: 'again' });
    await stopSchedules(rows.pool, 'paused', { orgId, connector: 'files_1', at: now });
  }
  const getCancellations = () => endpoint.asked.map(({ method, path }) => `${method} ${path}`);

  it('is cancelled once, after the time in which its worker could have cancelled it', async () => {
    await pauseLostRun();
    await reconcile();
    expect(getCancellations()).toEqual([]);
    rows.now += 11_000;
    await reconcile();
    await reconcile();
    expect(getCancellations()).toEqual(['DELETE /tasks/7']);
  });

  it('is cancelled later when its endpoint is unavailable', async () => {
    await pauseLostRun();
    rows.now += 11_000;
    await endpoint.stop();
    await reconcile();
    await endpoint.start();
    await reconcile();
    expect(getCancellations()).toEqual(['DELETE /tasks/7']);
  });

  it('is not cancelled when the connector has another endpoint by then', async () => {
    await pauseLostRun('http://127.0.0.1:9/tasks/7');
    rows.now += 11_000;
    await reconcile();
    expect(getCancellations()).toEqual([]);
    expect((await rows.pool.query('select from runs where task_location is not null')).rowCount).toBe(0);
  });
});
