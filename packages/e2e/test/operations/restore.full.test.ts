import { describeWith, waitFor } from '@platform/testing';
import { send } from '../platform/load.js';
import { type Platform, startPlatform } from '../platform/platform.js';
import { type Backup, backUp } from './backup.js';

// Follows the steps of the operations guide.
describeWith('nginx', 'back up and restore', () => {
  describeWith('own-redis', 'a platform at work', () => {
    let platform: Platform;
    const backups: Backup[] = [];

    beforeAll(async () => {
      platform = await startPlatform({ replicas: 1 });
    });
    afterAll(async () => {
      await platform?.close();
      await Promise.all(backups.map((backup) => backup.remove()));
    });

    interface Token {
      readonly id: string;
      readonly accessToken: string;
    }
    // prettier-ignore
    async function createToken(name: string): Promise<Token> {
      const body = () => ({ name, scopes: ['user:read'] });
      const answer = await send(platform.url, { path: '/api/v1/personal-access-tokens', token: platform.session, body, status: 201 });
      return ((await answer.json()) as { token: Token }).token;
    }
    const revoke = ({ id }: Token) =>
      fetch(`${platform.url}/api/v1/personal-access-tokens/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${platform.session}` },
      });
    const getStatus = async (credential: string) =>
      (await send(platform.url, { path: '/api/v1/users/me', token: credential, status: 200 })).status;
    const schedule = (connector: string, scheduleConfig: object) =>
      send(platform.url, {
        path: `/api/v1/crawlingManager/${connector}/schedule`,
        token: platform.session,
        body: () => ({ scheduleConfig }),
        status: 201,
      });
    const daily = { scheduleType: 'daily', hour: 2, minute: 15 };

    // prettier-ignore
    test('restores the state of the backup: schedules run, later data is gone, and later revocations are undone', async () => {
      const kept = await createToken('kept');
      const scheduledTime = new Date(Date.now() + 20_000).toISOString();
      expect((await schedule('wiki_1', { scheduleType: 'once', scheduledTime })).status).toBe(201);

      for (const url of Object.values(platform.databaseUrls)) backups.push(await backUp(url));

      await waitFor(async () => (await getStatus(kept.accessToken)) === 200, { what: 'the services' });
      await revoke(kept);
      const later = await createToken('later');
      expect((await schedule('files_1', daily)).status).toBe(201);
      expect([await getStatus(kept.accessToken), await getStatus(later.accessToken)]).toEqual([401, 200]);

      // No service runs, and Redis has lost its data.
      const replicas = Object.values(platform.replicas).flat();
      await Promise.all(replicas.map((replica) => replica.stop()));
      await platform.redis.flush();
      for (const backup of backups) await backup.restore();
      for (const replica of replicas)
        expect(await replica.command('migrate')).toMatchObject({ code: 0, stdout: 'nothing to apply\n' });
      for (const service of ['identity', 'crawl'] as const)
        expect(await platform.replicas[service][0]?.command('after-restore')).toMatchObject({ code: 0 });
      await Promise.all(replicas.map((replica) => replica.start()));

      expect([await getStatus(kept.accessToken), await getStatus(later.accessToken)]).toEqual([200, 401]);
      expect(await getStatus(platform.session)).toBe(200);
      const answer = await send(platform.url, { path: '/api/v1/crawlingManager/schedule/all', token: platform.session, status: 200 });
      const all = JSON.stringify(await answer.json());
      expect([all.includes('wiki_1'), all.includes('files_1')]).toEqual([true, false]);
      await waitFor(
        async () => (await platform.query('crawl', `select 1 from outbox.events where event::text like '%wiki_1%'`)).length === 1,
        { what: 'the run of the schedule' },
      );
    });
  });
});
