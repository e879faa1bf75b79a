import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callUrl, type CallOptions, issueCertificate, waitFor } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase } from '../../identity.js';
import { environmentFor, type Server, startServer } from '../../process/process.js';
import { attacks, type HostileServer, startHostileServer } from './hostile-server.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startUpstream } from './upstream.js';

/*
 * Mounted servers and a process with the memory of the image, which reads authorities of one's own when it starts. One
 * process bears all attacks.
 */

const day = (days: number) => new Date(Date.now() + days * 86_400_000);
const certificates = {
  valid: await issueCertificate('kb', ['127.0.0.1']),
  otherHost: await issueCertificate('kb', ['kb.example.com', '127.0.0.2']),
  expired: await issueCertificate('kb', ['127.0.0.1'], { notBeforeDate: day(-9), notAfterDate: day(-1) }),
  early: await issueCertificate('kb', ['127.0.0.1'], { notBeforeDate: day(1), notAfterDate: day(9) }),
  untrusted: await issueCertificate('kb', ['127.0.0.1']),
};
const { untrusted, ...trusted } = certificates;
const folder = await mkdtemp(join(tmpdir(), 'platform-tls-'));
const authorities = join(folder, 'authorities.pem');
await writeFile(authorities, Object.values(trusted).map(({ authority }) => authority.cert).join('\n')); // oxfmt-ignore

const database = await createIdentityDatabase();
const db = new pg.Pool({ connectionString: database.url, max: 1 });
const environment = {
  ...environmentFor(database.url),
  ...ALLOW_LOCAL,
  // The limits of the image: see the Dockerfile.
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: '--max-old-space-size=256 --max-semi-space-size=8',
  NODE_EXTRA_CA_CERTS: authorities,
  MCP_SERVER_REFRESH_MS: '1000',
};
let server: Server = await startServer(environment);
const process = {
  call: (method: string, path: string, options?: CallOptions) => callUrl(server.url + path, method, options),
};
const login = await process.call('POST', '/api/v1/auth/login', { body: admin });
const session = login.body.accessToken as string;
const mounts = createMounts(process, session);
const agent = createAgent(process, session);
let hostile: HostileServer;

beforeEach(async () => {
  hostile = await startHostileServer();
});
afterEach(async () => {
  await mounts.removeAll();
  await hostile.close();
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.exit;
  await db.end();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function expectAlive(): Promise<void> {
  expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null]);
  expect((await process.call('GET', '/health/live')).status).toBe(200);
}
const inEffect = { search: 'kb:read', save: 'semantic:write' };
const callMany = (count: number) =>
  Promise.all(Array.from({ length: count }, () => agent.call('wiki__search', { query: 'a' })));

test('a server with a certificate of a trusted authority is called over TLS', async () => {
  const { private: key, cert } = certificates.valid.certificate;
  const upstream = await startUpstream({ tls: { key, cert } });
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  expect(await agent.getText('wiki__search', { query: 'cats' })).toBe('found cats');
  await upstream.close();
});

test.each([
  ['otherHost', certificates.otherHost.certificate],
  ['expired', certificates.expired.certificate],
  ['early', certificates.early.certificate],
  ['untrusted', untrusted.certificate],
  ['self-signed', untrusted.authority],
  ['none', undefined],
])('sends nothing to a server with an invalid certificate: %s', async (_kind, certificate) => {
  const tls = certificate && { key: certificate.private, cert: certificate.cert };
  const upstream = await startUpstream(tls && { tls });
  const url = upstream.url.replace('http:', 'https:');
  const id = await mounts.mount(url, { credential: { kind: 'assertion' } });
  expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault: 'certificate' });
  expect(upstream.received).toEqual([]);
  await upstream.close();
});

test('lists that never end, in pages of 3.8 MB, leave the process alive, and the job asks no more', async () => {
  hostile.onList = attacks.endlessPages;
  const id = await mounts.mount(hostile.url);
  await Promise.all([1, 2, 3].map(() => mounts.refresh(id)));
  await expectAlive();
  await waitFor(async () => (await mounts.get(id)).refreshFault === 'too_large', {
    what: 'the fault of a list that is too large',
  });
  const asked = hostile.count('tools/list');
  // The job lists a server every second; another that is due shows that it has looked.
  const second = await startHostileServer();
  await mounts.mount(second.url, { name: 'second' });
  await waitFor(() => second.count('tools/list') >= 2, { what: 'two later refreshes' });
  await second.close();
  expect(hostile.count('tools/list')).toBe(asked);
  hostile.onList = undefined;
  expect((await mounts.refresh(id)).status).toBe(200);
  await waitFor(() => hostile.count('tools/list') >= asked + 2, { what: 'the job, which asks again' });
});

test('a list that never ends in empty pages is broken off', async () => {
  hostile.onList = attacks.endlessEmptyPages;
  const id = await mounts.mount(hostile.url);
  expect((await mounts.refresh(id)).status).toBe(502);
  await expectAlive();
});

test.each(['pingArray', 'pingStream'] as const)(
  'requests of a server are never answered: %s',
  async (attack) => {
    const id = await mounts.mountInEffect(hostile.url, inEffect);
    hostile.onCall = attacks[attack];
    hostile.onList = attacks[attack];
    const results = await callMany(4);
    await mounts.refresh(id);
    await expectAlive();
    expect(results.map(({ result }) => result.isError)).toEqual([true, true, true, true]);
    expect(hostile.count(undefined)).toBe(0);
  },
);

test.each(['hugeText', 'manyParts'] as const)(
  'concurrent answers leave the process alive: %s',
  async (attack) => {
    await mounts.mountInEffect(hostile.url, inEffect);
    hostile.onCall = attacks[attack];
    // More than the memory of the process, if it kept them.
    for (let round = 0; round < 3; round += 1) await callMany(32);
    await expectAlive();
  },
);

test('a replica that died while it listed a server begins with the others', async () => {
  hostile.onList = attacks.hang;
  await mounts.mount(hostile.url);
  await waitFor(() => hostile.count('tools/list') === 1, { what: 'the list that hangs' });
  server.child.kill('SIGKILL');
  await server.exit;
  // All are due, the server that hangs for the longest time.
  await db.query(`update mcp_servers set next_refresh_at = now() - interval '1 hour'`);
  const good = await startHostileServer();
  let asked = 0;
  good.onList = ({ id }, response) => {
    asked = hostile.count('tools/list');
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }));
  };
  await db.query(
    `insert into mcp_servers (id, org_id, name, url, credential, created_at, next_refresh_at)
     select gen_random_uuid(), org_id, 'good', $1, 'none', now(), now() - interval '1 minute' from mcp_servers`,
    [good.url],
  );
  server = await startServer(environment);
  await waitFor(() => good.count('tools/list') > 0, { what: 'the list of the other server' });
  await good.close();
  expect(asked).toBe(1);
});

// The process has just started: an organisation may test servers sixty times a minute.
test('handshakes of 3.8 MB are not kept', async () => {
  hostile.onHandshake = attacks.hugeHandshake;
  const id = await mounts.mount(hostile.url);
  // Each change of how a server is reached opens connections again, while the earlier ones are kept: 220 MB in all.
  for (let change = 0; change < 58; change += 1) {
    await mounts.call('PATCH', `/${id}`, { url: `${hostile.url}?${change}` });
    expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault: 'too_large' });
  }
  await expectAlive();
});
