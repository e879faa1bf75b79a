import { describeWith, waitFor } from '@platform/testing';
import { type Call, send, startLoad } from './load.js';
import { type Platform, startPlatform } from './platform.js';

const REPLICAS = 3;

describeWith('nginx', 'three replicas of each service behind nginx', () => {
  describeWith('own-redis', 'under load', () => {
    let platform: Platform;
    let token: string;
    let made = 0;

    const createToken = (): Call => ({
      path: '/api/v1/personal-access-tokens',
      token: platform.session,
      body: () => ({ name: `token ${(made += 1)}`, scopes: ['user:read'] }),
      status: 201,
    });
    const reads = (): Record<'identity' | 'mail' | 'crawl', Call> => ({
      identity: { path: '/api/v1/users/me', token, status: 200 },
      mail: { path: '/api/v1/mail/records', token, status: 200 },
      crawl: { path: '/api/v1/crawlingManager/stats', token, status: 200 },
    });

    beforeAll(async () => {
      platform = await startPlatform({ replicas: REPLICAS });
      const scopes = ['user:read', 'crawl:read', 'SEND_MAIL'];
      const answer = await send(platform.url, { ...createToken(), body: () => ({ name: 'load', scopes }) });
      token = ((await answer.json()) as { token: { accessToken: string } }).token.accessToken;
    });
    afterAll(() => platform.close());

    test('OPS-7 one page has the documentation of every service, and identity answers for the health', async () => {
      const page = `${platform.url}/docs`;
      const html = await (await fetch(page)).text();
      const assets = [...html.matchAll(/(?:src|href)="(\/docs\/static\/[^"]+)"/g)].map(
        ([, path = '']) => path,
      );
      expect(assets.length).toBeGreaterThan(0);
      const script = await (await fetch(`${page}/static/swagger-initializer.js`)).text();
      const documents = [...script.matchAll(/"(\/docs\/\w+\/json)"/g)].map(([, path = '']) => path);
      expect(documents).toHaveLength(3);
      for (const path of ['/health/live', '/health/ready', ...assets, ...documents])
        expect([path, (await fetch(new URL(path, page))).status]).toEqual([path, 200]);
      for (const path of ['/health', '/metrics', '/internal/openapi.json', '/api/v1/mail/internal'])
        expect([path, (await fetch(new URL(path, page))).status]).toEqual([path, 404]);
    });

    test('replacing every replica of every service fails no request', async () => {
      const load = startLoad(platform.url, [...Object.values(reads()), createToken()]);
      await load.advance(50);
      for (let index = 0; index < REPLICAS; index += 1) {
        const replaced = Object.values(platform.replicas).map((replicas) => replicas[index]);
        await Promise.all(
          replaced.map(async (replica) => {
            await replica?.stop();
            await load.advance(20);
            await replica?.start();
          }),
        );
        await load.advance(50);
      }
      expect(await load.stop()).toEqual([]);
      const [row] = await platform.query('identity', 'select count(*)::int from personal_access_tokens');
      // Each request of the load counts once, and so does the token that the load itself uses.
      expect(row).toEqual({ count: made + 1 });
    });

    test('killing a replica fails no read', async () => {
      for (const name of ['identity', 'mail', 'crawl'] as const) {
        const load = startLoad(platform.url, [reads()[name]]);
        await load.advance(20);
        const [replica] = platform.replicas[name];
        await replica?.kill();
        await load.advance(50);
        expect([name, await load.stop()]).toEqual([name, []]);
        await replica?.start();
      }
    });

    test('the requests of a killed replica are retried only if that is safe', async () => {
      const [replica] = platform.replicas.identity;
      replica?.pause();
      const before = made;
      const statuses: { readonly GET: number[]; readonly POST: number[] } = { GET: [], POST: [] };
      const all = (['GET', 'POST'] as const).flatMap((method) =>
        Array.from({ length: 9 }, async () => {
          const { status } = await send(platform.url, method === 'GET' ? reads().identity : createToken());
          statuses[method].push(status);
        }),
      );
      // About a third is at the replica that does not answer: requests among the services take turns with these.
      await waitFor(() => statuses.GET.length >= 5 && statuses.POST.length >= 5, { what: 'most answers' });
      await replica?.kill();
      await Promise.all(all);
      expect(new Set(statuses.GET)).toEqual(new Set([200]));
      expect(new Set(statuses.POST)).toEqual(new Set([201, 502]));
      const stored = await platform.query(
        'identity',
        `select name from personal_access_tokens where substring(name from 'token (.*)')::int > ${before}`,
      );
      expect(stored).toHaveLength(statuses.POST.filter((status) => status === 201).length);
      await replica?.start();
    });
  });
});
