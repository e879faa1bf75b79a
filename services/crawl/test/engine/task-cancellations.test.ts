import { createLogger } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { Registry } from 'prom-client';
import { Agent } from 'undici';
import { cancelRun } from '../../src/db/cancel-run.js';
import type { ClaimedRow } from '../../src/db/claim-runs.js';
import { saveTaskLocation } from '../../src/db/claimed-runs.js';
import { pauseSchedule, removeSchedules } from '../../src/db/schedules.js';
import { createCrawlMetrics } from '../../src/engine/metrics.js';
import { createTaskCancellations } from '../../src/engine/task-cancellations.job.js';
import { type Endpoint, startEndpoint } from '../support/endpoint.js';
import { times, useRunRows } from '../support/run-rows.js';

describe('the remote task of an attempt that ended without a report from its endpoint', () => {
  const rows = useRunRows();
  let endpoint: Endpoint;
  const dispatcher = new Agent();
  beforeAll(async () => {
    endpoint = await startEndpoint();
  });
  beforeEach(async () => {
    endpoint.asked.length = 0;
    await rows.pool.query('truncate tasks_to_cancel');
  });
  afterAll(async () => {
    await dispatcher.close();
    await endpoint.stop();
  });

  async function cancelTasks(): Promise<void> {
    const cancellations = createTaskCancellations({
      pool: rows.pool,
      endpoints: {
        find: async () => ({
          url: new URL(endpoint.url),
          access: { dispatcher, getSecrets: () => [Buffer.alloc(32)], clock: () => rows.now },
        }),
      },
      clock: () => rows.now,
      metrics: createCrawlMetrics(new Registry()),
      log: createLogger('test', 'silent'),
    });
    cancellations.wake();
    await cancellations.stop();
  }
  const getTask = () => new URL('/tasks/7', endpoint.url).href;
  const saveLocation = (run: ClaimedRow, location = getTask()) =>
    saveTaskLocation(rows.pool, run, location, new Date(rows.now));
  const getCancellations = () => endpoint.asked.map(({ method, path }) => `${method} ${path}`);
  const countOrders = async () => (await rows.pool.query('select from tasks_to_cancel')).rowCount;

  it.each([
    [
      'failed and will be retried',
      (run: ClaimedRow) => rows.newLifecycle().fail(run, 'Timed out', { location: getTask() }),
    ],
    [
      'failed for good',
      (run: ClaimedRow) =>
        rows.newLifecycle().fail({ ...run, attempts: 2 }, 'Timed out', { location: getTask() }),
    ],
    [
      'was paused',
      ({ orgId }: ClaimedRow) => pauseSchedule(rows.pool, { orgId, at: new Date(rows.now) }, null),
    ],
    [
      'was removed',
      ({ orgId }: ClaimedRow) => removeSchedules(rows.pool, { orgId, at: new Date(rows.now) }, null),
    ],
    [
      'was cancelled',
      ({ id: runId, ...key }: ClaimedRow) =>
        cancelRun(rows.pool, { ...key, runId }, new Date(rows.now), null),
    ],
  ])('is cancelled once when its run %s', async (_how, end) => {
    const run = await (await rows.scheduleDaily('endpoint')).claim();
    await saveLocation(run);
    await cancelTasks();
    expect(getCancellations()).toEqual([]);
    await end(run);
    await cancelTasks();
    await cancelTasks();
    expect(getCancellations()).toEqual(['DELETE /tasks/7']);
  });

  it('is cancelled when the schedule was paused before its location was stored', async () => {
    const { orgId, claim } = await rows.scheduleDaily('endpoint');
    const run = await claim();
    await pauseSchedule(rows.pool, { orgId, at: new Date(rows.now) }, null);
    await saveLocation(run);
    await cancelTasks();
    expect(getCancellations()).toEqual(['DELETE /tasks/7']);
  });

  it('is not cancelled when the endpoint has said that it failed, nor while another worker follows it', async () => {
    const { claim } = await rows.scheduleDaily('endpoint');
    const first = await claim();
    await saveLocation(first);
    rows.now += times.leaseMs + 1;
    const second = await claim();
    await rows.newLifecycle().handBack(second);
    expect(await countOrders()).toBe(0);
    const third = await claim();
    await rows.newLifecycle().fail(third, 'the source is unavailable', undefined);
    expect(await countOrders()).toBe(0);
  });

  it('is cancelled at the endpoint that got the order when its run has left the history', async () => {
    const { orgId, claim, endpointId } = await rows.scheduleDaily('endpoint');
    const run = await claim();
    await saveLocation(run);
    await pauseSchedule(rows.pool, { orgId, at: new Date(rows.now) }, null);
    await rows.pool.query('delete from runs where id = $1', [run.id]);
    const { rows: orders } = await rows.pool.query('select endpoint_id from tasks_to_cancel');
    expect(orders).toEqual([{ endpoint_id: endpointId }]);
  });

  it('is cancelled when the workers of its run keep vanishing', async () => {
    const { claim, dispatch } = await rows.scheduleDaily('endpoint');
    for (let count = 0; count < 4; count += 1) {
      await saveLocation(await claim());
      rows.now += times.leaseMs + 1;
    }
    await dispatch();
    expect(await rows.newLifecycle().claim('files_1')).toBeUndefined();
    await cancelTasks();
    expect(getCancellations()).toEqual(['DELETE /tasks/7']);
  });

  it('is cancelled later when its endpoint is unavailable', async () => {
    const { orgId, claim } = await rows.scheduleDaily('endpoint');
    await saveLocation(await claim());
    await pauseSchedule(rows.pool, { orgId, at: new Date(rows.now) }, null);
    await endpoint.stop();
    await cancelTasks();
    expect(await countOrders()).toBe(1);
    await endpoint.start();
    rows.now += 5_000;
    await cancelTasks();
    await waitFor(() => getCancellations().length === 1, { what: 'the cancellation' });
    expect(await countOrders()).toBe(0);
  });

  it('is not cancelled when the connector has another endpoint by then', async () => {
    const { orgId, claim } = await rows.scheduleDaily('endpoint');
    await saveLocation(await claim(), 'http://127.0.0.1:9/tasks/7');
    await pauseSchedule(rows.pool, { orgId, at: new Date(rows.now) }, null);
    await cancelTasks();
    expect(getCancellations()).toEqual([]);
    expect(await countOrders()).toBe(0);
  });
});
