import { beginLocked } from '../../src/features/schedules/queries.js';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

jest.setTimeout(60_000);

describe('removing all schedules', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', env: { ROLE: 'api' } });
  }, 60_000);
  afterAll(() => platform.close(), 30_000);

  it('removes what it can, names what is left and why, and is 200 once nothing is left', async () => {
    for (const connector of ['files_1', 'mail_1', 'wiki_1'])
      await platform.call('POST', `/${connector}/schedule`, { body: { scheduleConfig: daily } });
    const holder = await platform.db.connect();
    await holder.query(beginLocked(platform.admin.orgId, 'mail_1'));
    const { status, body, headers } = await platform.call('DELETE', '/schedule/all');
    await holder.query('rollback');
    holder.release();
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body).toEqual({
      success: false,
      message: 'Not all jobs could be removed: try again',
      error: { code: 'NOT_ALL_REMOVED', details: 'mail_1: Service temporarily unavailable' },
    });
    const { body: left } = await platform.call('GET', '/schedule/all');
    expect(left.data.map(({ data }: { data: { connector: string } }) => data.connector)).toEqual(['mail_1']);
    for (let times = 0; times < 2; times += 1)
      expect(await platform.call('DELETE', '/schedule/all')).toMatchObject({
        status: 200,
        body: { success: true, message: 'All jobs removed' },
      });
    expect((await platform.call('GET', '/schedule/all')).body.data).toEqual([]);
  });
});
