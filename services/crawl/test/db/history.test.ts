import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { pruneRuns } from '../../src/db/runs.js';
import { at, filesOf, useRunRows } from '../support/run-rows.js';

describe('the history of runs', () => {
  const rows = useRunRows();

  async function insertRuns(orgId: string, state: string, count: number): Promise<void> {
    await rows.pool.query(
      `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, state, scheduled_for,
         created_at, finished_at, attempts_max)
       select id, $1, 1, $1, 'files_1', 'schedule', id, $2::run_state, $3, $3, $3, 1
       from unnest($4::uuid[]) as id`,
      [orgId, state, new Date(at), Array.from({ length: count }, () => uuidv7())],
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

  it('keeps the newest 200 runs that were not skipped', async () => {
    const orgId = randomUUID();
    await insertRuns(orgId, 'failed', 150);
    await insertRuns(orgId, 'completed', 120);
    await insertRuns(orgId, 'skipped', 10);
    for (let time = 0; time < 5; time += 1) await pruneRuns(rows.pool, filesOf(orgId), 200);
    expect(await countByState(orgId)).toEqual({ failed: 80, completed: 120, skipped: 10 });
  });
});
