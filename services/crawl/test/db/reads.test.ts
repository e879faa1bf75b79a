import { findStatus, findStatuses } from '../../src/db/schedule-status.js';
import { filesOf, useRunRows } from '../support/run-rows.js';

describe('reading schedules and runs', () => {
  const rows = useRunRows();

  it('a finished one-off schedule is not shown once it has left the history', async () => {
    const { id, orgId, claim } = await rows.scheduleOnce();
    await rows.newLifecycle().complete(await claim());
    expect((await findStatus(rows.pool, filesOf(orgId)))?.run?.state).toBe('completed');
    await rows.pool.query('delete from runs where schedule_id = $1', [id]);
    expect(await findStatus(rows.pool, filesOf(orgId))).toBeUndefined();
    expect(await findStatuses(rows.pool, orgId)).toEqual([]);
  });
});
