import { connectors } from '@platform/events';
import { DAY_MS } from '@platform/service-kit';
import { Registry } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { readBacklog } from '../../src/db/dispatch.js';
import { insertRequestedRun } from '../../src/db/runs.js';
import { createCrawlMetrics, registerBacklog } from '../../src/engine/metrics.js';
import { at, useRunRows } from '../support/run-rows.js';

/** A run is overdue after this time. */
const GRACE_MS = 20_000;

describe('the backlog', () => {
  const rows = useRunRows();
  const read = (seconds: number) => {
    const now = at + seconds * 1_000;
    return readBacklog(rows.pool, {
      now: new Date(now),
      overdueBefore: new Date(now - GRACE_MS),
      failingAfter: 3,
    });
  };

  it('is as old as the oldest schedule or run that is due and has not started', async () => {
    expect(await read(0)).toMatchObject({ oldestAgeSeconds: 0, overdue: 0 });
    const { claim } = await rows.scheduleDaily();
    expect(await read(-60)).toMatchObject({ oldestAgeSeconds: 0, overdue: 0 });
    expect(await read(90)).toMatchObject({ oldestAgeSeconds: 90, overdue: 1 });
    await claim();
    expect(await read(100)).toMatchObject({ oldestAgeSeconds: 0, overdue: 0 });
    const { id: scheduleId, orgId } = await rows.scheduleDaily();
    await rows.pool.query('update schedules set next_run_at = $2 where id = $1', [
      scheduleId,
      new Date(at + DAY_MS),
    ]);
    const requested = {
      id: uuidv7(),
      scheduleId,
      at: new Date(at + 70_000),
      requestId: 'r',
      mode: undefined,
      traceparent: undefined,
    };
    await insertRequestedRun(rows.pool, { ...requested, requestedBy: { id: orgId, name: 'Ada' } }, null);
    expect(await read(100)).toMatchObject({ oldestAgeSeconds: 30, overdue: 1 });
  });

  it('is exposed as metrics, and the counter of missed runs begins at zero', async () => {
    await rows.scheduleDaily();
    const registry = new Registry();
    createCrawlMetrics(registry);
    registerBacklog(registry, () => read(100));
    const text = await registry.metrics();
    expect(text).toContain('platform_crawl_queue_oldest_age_seconds 100');
    expect(text).toContain('platform_crawl_overdue_schedules 1');
    for (const connector of connectors)
      expect(text).toContain(
        `platform_crawl_missed_runs_total{connector="${connector}",policy="run_once"} 0`,
      );
  });
});
