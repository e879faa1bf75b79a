import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { callUrl, waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

const OUT = [403, 'OUT_OF_BOUNDS'];
const SCOPES = ['crawl:read', 'crawl:write', 'crawl:delete', 'crawl:work'];

/* Tokens of a real identity that are limited to connectors. */

/** A way to a service that can be closed, so that the service is as good as down. */
async function startGate(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(service).pipe(client);
  });
  const listen = (at: number): Promise<unknown> => {
    server.listen(at, '127.0.0.1');
    return once(server, 'listening');
  };
  await listen(0);
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    open: () => listen(own),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe('bounds of credentials', () => {
  let platform: Platform;
  let bound: string;
  const createToken = async (connectors: readonly string[], scopes = SCOPES): Promise<string> => {
    const body = { name: `test-${randomUUID()}`, scopes, bounds: { connectors } };
    const created = await platform.toIdentity('POST', '/api/v1/personal-access-tokens', { body });
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    return created.body.token.accessToken as string;
  };
  const call = async (method: string, path: string, body?: object, token = bound) => {
    const answer = await platform.call(method, path, { token, ...(body && { body }) });
    return { ...answer, outcome: [answer.status, answer.body?.error?.code] };
  };
  const claim = (connectors: string[], token = bound) =>
    call('POST', '/work/claim', { connectors, worker: 'test', waitMs: 0 }, token);
  const scheduleConfig = { scheduleConfig: daily, worker: 'pull' };

  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', env: { STALLED_INTERVAL_MS: '30000' } });
    bound = await createToken(['files_1']);
  });
  afterAll(() => platform.close());
  beforeEach(async () => {
    for (const connector of ['files_1', 'wiki_1'])
      await platform.call('POST', `/${connector}/schedule`, { body: scheduleConfig });
  });

  it('CRAWL-55 a token is allowed for its connector, in any spelling, and refused for another', async () => {
    expect((await call('GET', '/files_1/schedule')).status).toBe(200);
    expect((await call('GET', '/Files_1/instances/default/schedule')).status).toBe(200);
    expect((await call('POST', '/files_1/run')).status).toBe(202);
    for (const [method, path, body] of [
      ['GET', '/wiki_1/schedule'],
      ['GET', '/wiki_1/instances/default/schedule'],
      ['POST', '/wiki_1/schedule', scheduleConfig],
      ['DELETE', '/wiki_1/schedule'],
      ['DELETE', '/wiki_1/checkpoint'],
      ['POST', '/wiki_1/run'],
      ['GET', '/wiki_1/runs'],
      ['POST', '/wiki_1/pause'],
      ['GET', '/wiki_1/hooks'],
      ['PUT', '/wiki_1/instances/two', { displayName: 'Two' }],
    ] as const)
      expect([path, (await call(method, path, body)).outcome]).toEqual([path, OUT]);
    expect((await platform.call('GET', '/wiki_1/schedule')).body.data.state).toBe('delayed');
  });

  it('CRAWL-55 what concerns all connectors is refused, and lists have those of the token alone', async () => {
    for (const [method, path, body] of [
      ['DELETE', '/schedule/all'],
      ['GET', '/endpoints'],
      ['POST', '/endpoints', { name: 'a', url: 'https://crawler.example.com' }],
    ] as const)
      expect([path, (await call(method, path, body)).outcome]).toEqual([path, OUT]);
    const list = async (path: string, token = bound) =>
      [(await call('GET', path, undefined, token)).body.data].flatMap((data) => data.connectors ?? data);
    const nothing = await createToken([]);
    for (const path of ['/schedule/all', '/instances', '/connectors', '/queue']) {
      const names = async (token?: string) =>
        (await list(path, token)).map((item) => item.connector ?? item.data.connector);
      expect([path, await names()]).toEqual([path, ['files_1']]);
      expect([path, await names(nothing)]).toEqual([path, []]);
    }
    expect((await call('GET', '/stats/day')).status).toBe(200);
  });

  it('CRAWL-55 the statistics of a token count its connectors alone', async () => {
    const count = async (token?: string) => (await call('GET', '/stats', undefined, token)).body.data;
    const nothing = await createToken([]);
    const before = [await count(), await count(platform.admin.token)];
    for (const connector of ['wiki_1', 'files_1', 'wiki_1']) {
      // A run may wait already.
      await platform.call('POST', `/${connector}/run`);
      const { body } = await claim([connector], platform.admin.token);
      const finish = { lease: body.lease, state: 'completed' };
      await call('POST', `/work/${body.order.runId}/finish`, finish, platform.admin.token);
    }
    const after = [await count(), await count(platform.admin.token)];
    expect(after.map(({ completed }, index) => completed - before[index].completed)).toEqual([1, 3]);
    expect(after[0]).toMatchObject({ repeatable: 1, delayed: 1, total: 1 + after[0].completed });
    expect(after[1]).toMatchObject({ repeatable: 2, delayed: 2 });
    expect(Object.values(await count(nothing))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('CRAWL-55 a worker claims, reports and finishes runs of its connector alone', async () => {
    const runIds: string[] = [];
    for (const connector of ['wiki_1', 'files_1'])
      runIds.push((await platform.call('POST', `/${connector}/run`)).body.data?.runId);
    expect((await claim(['wiki_1'])).outcome).toEqual(OUT);
    expect((await claim(['files_1', 'wiki_1'])).outcome).toEqual(OUT);
    const claimed = await claim(['files_1']);
    expect([claimed.status, claimed.body.order.connector]).toEqual([200, 'files_1']);
    const { runId } = claimed.body.order;
    const { lease } = claimed.body;
    expect((await call('POST', `/work/${runId}/heartbeat`, { lease, progress: 10 })).status).toBe(200);
    expect((await call('POST', `/work/${runId}/finish`, { lease, state: 'completed' })).status).toBe(200);
    expect((await claim(['files_1'])).status).toBe(204);
    // The run of the other connector is as one that does not exist, even with a lease of it.
    const other = await claim(['wiki_1'], platform.admin.token);
    const wiki = { lease: other.body.lease as string };
    const path = `/work/${other.body.order.runId}`;
    expect((await call('POST', `${path}/heartbeat`, wiki)).status).toBe(404);
    expect((await call('POST', `${path}/finish`, { ...wiki, state: 'completed' })).status).toBe(404);
    expect((await call('POST', `${path}/heartbeat`, wiki, platform.admin.token)).status).toBe(200);
    expect(
      (await call('POST', `${path}/finish`, { ...wiki, state: 'completed' }, platform.admin.token)).status,
    ).toBe(200);
    expect((await call('GET', `/runs/${runId}`)).status).toBe(200);
    expect((await call('GET', `/runs/${other.body.order.runId}`)).status).toBe(404);
    expect(runIds).toHaveLength(2);
  });

  it('CRAWL-55 the feed has the events of its connectors alone', async () => {
    const connectors = async (path: string) =>
      (await call('GET', path)).body.data.map(
        (event: { payload: { connector: string } }) => event.payload.connector,
      );
    const all = (await platform.call('GET', '/events')).body.data as { payload: { connector: string } }[];
    expect(new Set(all.map(({ payload }) => payload.connector))).toEqual(new Set(['files_1', 'wiki_1']));
    expect(new Set(await connectors('/events'))).toEqual(new Set(['files_1']));
    expect(new Set(await connectors('/events?connector=files_1'))).toEqual(new Set(['files_1']));
    expect((await call('GET', '/events?connector=wiki_1')).outcome).toEqual(OUT);
  });

  it('GRP-9 while identity is unavailable, a limited token is refused everywhere, and afterwards as before', async () => {
    const gate = await startGate(platform.identityUrl);
    try {
      const crawl = await platform.addCrawl({ IDENTITY_URL: gate.url, IDENTITY_TIMEOUT_MS: '2000' });
      const ask = async (path: string) =>
        (await callUrl(`${crawl.url}/api/v1/crawlingManager${path}`, 'GET', { token: bound })).status;
      const paths = ['/files_1/schedule', '/wiki_1/schedule', '/stats', '/schedule/all'];
      const askAll = () => Promise.all(paths.map(ask));
      const known = [200, 403, 200, 200];
      expect(await askAll()).toEqual(known);
      gate.close();
      expect(await askAll()).toEqual(paths.map(() => 503));
      await gate.open();
      await waitFor(async () => (await ask('/files_1/schedule')) === 200, { what: 'identity' });
      expect(await askAll()).toEqual(known);
    } finally {
      gate.close();
    }
  });

  it('CRAWL-55 a session and a token without bounds are not limited', async () => {
    const body = { name: `test-${randomUUID()}`, scopes: SCOPES };
    const created = await platform.toIdentity('POST', '/api/v1/personal-access-tokens', { body });
    const token = created.body.token.accessToken as string;
    expect((await call('GET', '/wiki_1/schedule', undefined, token)).status).toBe(200);
    expect((await call('GET', '/stats', undefined, token)).status).toBe(200);
    expect((await claim(['wiki_1', 'files_1'], token)).status).toBe(204);
  });
});
