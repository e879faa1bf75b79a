import { daily } from '../../support/crawls.js';
import { type Platform, startPlatform } from '../../support/platform.js';

describe('removing all schedules', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', env: { ROLE: 'api' } });
  });
  afterAll(() => platform.close());

  it("removes the organisation's schedules in every state and no others, and responds with 200 when there are none", async () => {
    const other = await platform.createOrganisation();
    for (const connector of ['files_1', 'mail_1', 'wiki_1'])
      for (const { token } of [platform.admin, other])
        await platform.call('POST', `/${connector}/schedule`, { token, body: { scheduleConfig: daily } });
    await platform.call('POST', '/mail_1/pause');
    await platform.call('POST', '/wiki_1/run');
    for (let times = 0; times < 2; times += 1)
      expect(await platform.call('DELETE', '/schedule/all')).toMatchObject({
        status: 200,
        body: { success: true, message: 'All jobs removed' },
      });
    expect((await platform.call('GET', '/schedule/all')).body.data).toEqual([]);
    expect((await platform.call('GET', '/wiki_1/runs')).body.data).toMatchObject([{ outcome: 'aborted' }]);
    expect((await platform.call('GET', '/schedule/all', { token: other.token })).body.data).toHaveLength(3);
  });
});
