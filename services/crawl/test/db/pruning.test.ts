import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { maybePruneRuns } from '../../src/db/prune-runs.js';
import { at, filesOf, useRunRows } from '../support/run-rows.js';

describe('pruning', () => {
  const rows = useRunRows();

  it('keeps the newest 200 runs of a connector of an organisation', async () => {
    const [orgId, other] = [randomUUID(), randomUUID()];
    const connectorsByOrg = { [orgId]: ['files_1', 'files_2'], [other]: ['files_1'] };
    for (const [org, connectors] of Object.entries(connectorsByOrg))
      for (const connector of connectors)
        await rows.pool.query(
          `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, state, scheduled_for,
             created_at, finished_at, attempts_max)
           select lpad(to_hex(n), 32, '0')::uuid, $1, 1, $2, $3, 'schedule', n::text, 'completed',
             $4::timestamptz + make_interval(mins => n), $4, $4, 1
           from generate_series($5::int, $5 + 229) as n`,
          [
            randomUUID(),
            org,
            connector,
            new Date(at),
            connector === 'files_2' ? 1_000 : org === other ? 2_000 : 0,
          ],
        );
    const find = async (org: string, connector: string) =>
      (
        await rows.pool.query<{ at: Date }>(
          'select scheduled_for as at from runs where org_id = $1 and connector = $2 order by scheduled_for',
          [org, connector],
        )
      ).rows;
    // It is called for every run and deletes at random.
    const chance = jest.spyOn(Math, 'random').mockReturnValue(0);
    maybePruneRuns(rows.pool, filesOf(orgId));
    chance.mockRestore();
    const kept = await waitFor(
      async () => {
        const found = await find(orgId, 'files_1');
        return found.length < 230 && found;
      },
      { what: 'the deletion' },
    );
    expect(kept).toHaveLength(200);
    expect(kept[0]?.at).toEqual(new Date(at + 30 * 60_000));
    expect(await find(orgId, 'files_2')).toHaveLength(230);
    expect(await find(other, 'files_1')).toHaveLength(230);
  });
});
