import type { CrawlNotice } from '@platform/auth';
import { createLogger, DAY_MS, HOUR_MS } from '@platform/service-kit';
import { createFailureNotices } from '../../src/engine/failure-notices.job.js';
import { at, useRunRows } from '../support/run-rows.js';

/* Crawls that keep failing, on rows. A connector counts as failing after three failed runs. */

describe('notices of crawls that keep failing', () => {
  const rows = useRunRows();
  afterEach(() => rows.pool.query('delete from failure_notices'));

  const noticesOf = async (orgId: string) =>
    (
      await rows.pool.query<{ failures: number; reason: string | null }>(
        'select failures, reason from failure_notices where org_id = $1 order by id',
        [orgId],
      )
    ).rows;
  const fail = async ({ claim }: Awaited<ReturnType<typeof rows.scheduleMinutely>>, reason: string) => {
    expect(await rows.newLifecycle().fail({ ...(await claim()), attempts: 2 }, reason)).toBe('failed');
  };

  it('are written at the third failure, once a day, and when a run completes again', async () => {
    const schedule = await rows.scheduleMinutely();
    for (const [time, reason] of [
      [at, 'one'],
      [at + HOUR_MS, 'two'],
      [at + 2 * HOUR_MS, 'three'],
      [at + 3 * HOUR_MS, 'four'],
      [at + DAY_MS + HOUR_MS, 'five'],
    ] as const) {
      rows.now = time;
      await fail(schedule, reason);
    }
    const failing = [
      { failures: 3, reason: 'three' },
      { failures: 5, reason: 'five' },
    ];
    expect(await noticesOf(schedule.orgId)).toEqual(failing);
    for (const day of [2, 3]) {
      rows.now = at + day * DAY_MS;
      await rows.newLifecycle().complete(await schedule.claim());
    }
    expect(await noticesOf(schedule.orgId)).toEqual([...failing, { failures: 0, reason: null }]);
  });

  it('are handed to identity as one of an organisation, and kept until it has stored them', async () => {
    const schedule = await rows.scheduleMinutely();
    for (const minute of [0, 1, 2]) {
      rows.now = at + minute * 60_000;
      await fail(schedule, `no ${minute}`);
    }
    await rows.pool.query(
      `insert into failure_notices (org_id, connector, failures, reason, created_at, due_at)
       select org_id, 'wiki_1', 4, 'no wiki', created_at, due_at + interval '4 minutes' from failure_notices`,
    );
    const given: CrawlNotice[] = [];
    let isAway = true;
    let count = 0;
    const send = async () => {
      const notices = createFailureNotices({
        pool: rows.pool,
        notify: async (notice) => {
          count += 1;
          if (isAway) throw new Error('identity is away');
          given.push(notice);
        },
        clock: () => rows.now,
        log: createLogger('test', 'silent'),
      });
      await notices.run();
    };
    await send();
    expect(await noticesOf(schedule.orgId)).toHaveLength(2);
    rows.now += 5 * 60_000;
    await rows.pool.query(
      `insert into failure_notices (org_id, connector, failures, created_at, due_at)
       select gen_random_uuid(), 'wiki_1', 3, created_at, due_at + interval '1 hour' from failure_notices limit 1`,
    );
    await rows.pool.query(`update failure_notices set due_at = created_at`);
    await send();
    // The notices of others wait for the next round, too.
    expect(count).toBe(1);
    expect(await noticesOf(schedule.orgId)).toHaveLength(2);
    await rows.pool.query('delete from failure_notices where org_id <> $1', [schedule.orgId]);
    isAway = false;
    await send();
    expect(given).toEqual([]);
    rows.now += 60_000;
    await Promise.all([send(), send()]);
    expect(given).toEqual([
      {
        orgId: schedule.orgId,
        crawls: [
          { name: 'files_1', failures: 3, reason: 'no 2' },
          { name: 'wiki_1', failures: 4, reason: 'no wiki' },
        ],
      },
    ]);
    expect(await noticesOf(schedule.orgId)).toEqual([]);
  });
});
