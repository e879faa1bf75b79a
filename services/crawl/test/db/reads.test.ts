import { type ExpectedJob, findOverdue } from '../../src/db/expected-runs.js';
import { findStatus, findStatuses } from '../../src/db/schedule-status.js';
import { at, expectClaimed, useRunRows } from '../support/run-rows.js';

describe('reading schedules and runs', () => {
  const rows = useRunRows();

  it('a finished one-off schedule is not shown once it has left the history', async () => {
    const { id, orgId, job } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const claimed = expectClaimed(await lifecycle.claim(job));
    await lifecycle.complete(claimed);
    expect((await findStatus(rows.pool, orgId, 'files_1'))?.run?.state).toBe('completed');
    await rows.pool.query('delete from runs where schedule_id = $1', [id]);
    expect(await findStatus(rows.pool, orgId, 'files_1')).toBeUndefined();
    expect(await findStatuses(rows.pool, orgId)).toEqual([]);
  });

  it('late schedules are read page by page, even if several are due at the same instant', async () => {
    const late = [await rows.scheduleOnce(), await rows.scheduleOnce(), await rows.scheduleOnce()].map(
      ({ id }) => id,
    );
    const found: string[] = [];
    for (let last: ExpectedJob | undefined; found.length < 100;) {
      const page = await findOverdue(rows.pool, new Date(at + 1), last, 1);
      found.push(...page.map(({ id }) => id));
      last = page.at(-1);
      if (!last) break;
    }
    expect(found).toEqual(expect.arrayContaining(late));
    expect(new Set(found).size).toBe(found.length);
  });

  it('the watchdog reads only the columns that it compares, not the configuration', async () => {
    await rows.scheduleOnce();
    const [row] = await findOverdue(rows.pool, new Date(at + 1), undefined, 1);
    const read = ['connector', 'id', 'isRecurring', 'nextRunAt', 'orgId', 'revision'];
    expect(Object.keys(row ?? {}).toSorted()).toEqual(read);
  });
});
