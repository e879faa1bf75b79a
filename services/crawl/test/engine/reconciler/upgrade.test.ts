import { toLegacySchedulerKey, toSchedulerKey } from '../../../src/queue/job.js';
import { createCrawls } from '../../support/crawls.js';
import { describeEachBackend, type Platform, startPlatform } from '../../support/platform.js';

const MINUTE_MS = 60_000;
const connector = 'files_1';

describeEachBackend(
  'an upgrade from a version that names its job schedulers in another way, on %s',
  (backend) => {
    let platform: Platform;
    const crawls = createCrawls(() => platform);
    beforeAll(async () => {
      platform = await startPlatform({ backend, clockAheadMs: 0 });
    });
    afterAll(() => platform.close());

    it('runs each tick of an earlier scheduler once, counts none as missed, and replaces the scheduler together with the schedule', async () => {
      const { orgId } = platform.admin;
      const pattern = '* * * * *';
      await crawls.schedule(connector, { scheduleType: 'custom', cronExpression: pattern });
      await platform.crawl.stop();
      const { rows } = await platform.db.query<{ id: string; revision: number }>(
        'select id, revision::float8 as revision from schedules',
      );
      const { id: scheduleId = '', revision = 0 } = rows[0] ?? {};
      const key = toSchedulerKey({ connector, orgId, revision });
      const data = { kind: 'tick', orgId, connector, scheduleId, revision } as const;
      const firstTick = await platform.queues.addScheduler(
        connector,
        toLegacySchedulerKey({ connector, orgId }),
        pattern,
        data,
      );
      await platform.queues.removeScheduler(connector, key);
      // A minute may have begun since the row was written, so the next run is set to that of the earlier scheduler.
      await platform.db.query('update schedules set next_run_at = to_timestamp($1 / 1000.0)', [firstTick]);

      // The service starts again when a tick has been due for longer than the grace of the watchdog.
      await platform.addCrawl({ CLOCK_AHEAD_MS: String(1.5 * MINUTE_MS) }, true);
      await crawls.outcome(connector, 'completed');
      await crawls.expectWhole();
      const runs = await crawls.runs(connector);
      expect(new Set(runs.map(({ trigger, outcome }) => `${trigger} ${outcome}`))).toEqual(
        new Set(['schedule completed']),
      );
      expect(new Set(runs.map(({ scheduledFor }) => scheduledFor)).size).toBe(runs.length);
      const found = await platform.db.query('select missed_runs from schedules');
      expect(found.rows).toEqual([{ missed_runs: 0 }]);

      await crawls.schedule(connector, { scheduleType: 'custom', cronExpression: pattern });
      await platform.crawl.setClock(3.5 * MINUTE_MS);
      await crawls.expectWhole();
      expect(await platform.queues.listSchedulers(connector)).toHaveLength(1);
    });
  },
);
