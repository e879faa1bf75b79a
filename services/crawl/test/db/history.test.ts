import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { v7 as uuidv7 } from 'uuid';
import { maybePruneRuns } from '../../src/db/prune-runs.js';
import { pruneRuns } from '../../src/db/runs.js';
import { findStatus, findStatuses } from '../../src/db/schedule-status.js';
import { at, filesOf, useRunRows } from '../support/run-rows.js';

describe('the history of runs', () => {
  const rows = useRunRows();

  /** Inserts runs of one minute each, oldest first. */
  async function insertRuns(
    orgId: string,
    state: string,
    count: number,
    connector = 'files_1',
  ): Promise<void> {
    await rows.pool.query(
      `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, state, scheduled_for,
         created_at, finished_at, attempts_max)
       select id, $1, 1, $1, $5, 'schedule', id, $2::run_state, $3::timestamptz + make_interval(mins => n::int), $3, $3, 1
       from unnest($4::uuid[]) with ordinality as ids (id, n)`,
      [orgId, state, new Date(at), Array.from({ length: count }, () => uuidv7()), connector],
    );
  }
  const countByState = async (orgId: string) =>
    Object.fromEntries(
      (
        await rows.pool.query<{ state: string; count: number }>(
          'select state, count(*)::int as count from runs where org_id = $1 group by state',
          [orgId],
        )
      ).rows.map(({ state, count }) => [state, count]),
    );

  it('keeps a failure however many ticks are skipped after it', async () => {
    const orgId = randomUUID();
    await insertRuns(orgId, 'failed', 3);
    await insertRuns(orgId, 'skipped', 450);
    for (let time = 0; time < 5; time += 1) await pruneRuns(rows.pool, filesOf(orgId), 200);
    expect(await countByState(orgId)).toEqual({ failed: 3, skipped: 200 });
  });

  it('keeps the newest 200 runs of each outcome (CRAWL-27)', async () => {
    const orgId = randomUUID();
    await insertRuns(orgId, 'failed', 210);
    await insertRuns(orgId, 'completed', 250);
    await insertRuns(orgId, 'aborted', 10);
    for (let time = 0; time < 5; time += 1) await pruneRuns(rows.pool, filesOf(orgId), 200);
    expect(await countByState(orgId)).toEqual({ failed: 200, completed: 200, aborted: 10 });
  });

  it('keeps the runs of other connectors and organisations, and is pruned at random after a run', async () => {
    const [orgId, other] = [randomUUID(), randomUUID()];
    await insertRuns(orgId, 'completed', 230);
    await insertRuns(orgId, 'completed', 230, 'files_2');
    await insertRuns(other, 'completed', 230);
    const chance = jest.spyOn(Math, 'random').mockReturnValue(0);
    maybePruneRuns(rows.pool, filesOf(orgId));
    chance.mockRestore();
    await waitFor(async () => (await countByState(orgId))['completed'] === 430, { what: 'the deletion' });
    const { rows: kept } = await rows.pool.query<{ at: Date }>(
      `select scheduled_for as at from runs where org_id = $1 and connector = 'files_1' order by 1 limit 1`,
      [orgId],
    );
    expect(kept).toEqual([{ at: new Date(at + 31 * 60_000) }]);
    expect(await countByState(other)).toEqual({ completed: 230 });
  });

  it('does not show a one-off schedule any more whose run has left it', async () => {
    const { id, orgId, claim } = await rows.scheduleOnce();
    await rows.newLifecycle().complete(await claim());
    expect((await findStatus(rows.pool, filesOf(orgId)))?.run?.state).toBe('completed');
    await rows.pool.query('delete from runs where schedule_id = $1', [id]);
    expect(await findStatus(rows.pool, filesOf(orgId))).toBeUndefined();
    expect(await findStatuses(rows.pool, orgId)).toEqual([]);
  });
});
