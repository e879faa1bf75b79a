import { gzipSync } from 'node:zlib';
import type { LookupAddress } from 'node:dns';
import { createEgress, createProviderFetch, parseTarget, type Target } from '@platform/service-kit';
import { createHttpBrowser } from '../../browser.js';
import { startIdentity } from '../../identity.js';
import { startHttp } from '../../mcp/servers/upstream.js';
import { beginSignIn, environment, saveProvider, SETTINGS, verifyDomain } from './flow.js';
import { type HostileProvider, sendJson, startHostileProvider } from './hostile-provider.js';

const METADATA = '/.well-known/openid-configuration';
let hostile: HostileProvider;

const identity = await startIdentity({ environment });
const session = await identity.login();
await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
beforeEach(async () => {
  hostile = await startHostileProvider();
  await saveProvider(identity, session, { issuer: hostile.issuer });
});
afterEach(() => hostile.close());
afterAll(() => identity?.close());

const testProvider = async () =>
  (await identity.call('POST', `${SETTINGS}/test`, { token: session })).body as object;
const begin = async () => (await beginSignIn(createHttpBrowser(identity.url), 'ada@example.com')).page;

test('IDP-1 a provider that works is usable', async () => {
  expect(await testProvider()).toEqual({
    isUsable: true,
    authorizationEndpoint: `${hostile.issuer}/authorize`,
  });
});

test('IDP-2 a provider that is down is named as such, and works again as soon as it is up', async () => {
  await hostile.close();
  expect(await testProvider()).toEqual({ isUsable: false, fault: 'unreachable' });
  const page = await begin();
  expect([page.status, page.headers.get('retry-after'), page.text]).toEqual([
    503,
    '10',
    expect.stringContaining('cannot be reached'),
  ]);
  hostile = await startHostileProvider();
  await saveProvider(identity, session, { issuer: hostile.issuer });
  expect((await begin()).status).toBe(200);
});

test('IDP-2 redirects are not followed', async () => {
  let reached = 0;
  const secret = await startHttp((_request, response) => {
    reached += 1;
    response.end('{}');
  });
  try {
    hostile.answers.set(METADATA, (_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${secret.port}/latest/meta-data` }).end();
    });
    expect(await testProvider()).toEqual({ isUsable: false, fault: 'redirect', status: 302 });
    expect(reached).toBe(0);
  } finally {
    await secret.close();
  }
});

test('IDP-2 answers that are huge, compressed, broken or no metadata are refused', async () => {
  hostile.answers.set(METADATA, sendJson({ issuer: hostile.issuer, padding: 'a'.repeat(300_000) }));
  expect(await testProvider()).toEqual({ isUsable: false, fault: 'too_large' });
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  hostile.answers.set(METADATA, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
  });
  expect(await testProvider()).toMatchObject({ isUsable: false });
  hostile.answers.set(METADATA, (_request, response) => void response.destroy());
  expect(await testProvider()).toMatchObject({ isUsable: false, fault: 'disconnected' });
  hostile.answers.set(METADATA, (_request, response) => void response.end('<html>'));
  expect(await testProvider()).toMatchObject({ isUsable: false, fault: 'invalid_answer' });
  hostile.answers.set(METADATA, (_request, response) => void response.writeHead(500).end());
  expect(await testProvider()).toEqual({ isUsable: false, fault: 'http_error', status: 500 });
});

test('IDP-13 metadata of another issuer, or that sends browsers to a script, is refused', async () => {
  const good = {
    issuer: hostile.issuer,
    authorization_endpoint: `${hostile.issuer}/authorize`,
    token_endpoint: `${hostile.issuer}/token`,
    jwks_uri: `${hostile.issuer}/keys`,
  };
  for (const change of [
    { issuer: 'https://other.example' },
    { authorization_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: undefined },
    { token_endpoint: undefined },
    { jwks_uri: undefined },
  ]) {
    hostile.answers.set(METADATA, sendJson({ ...good, ...change }));
    expect([change, await testProvider()]).toEqual([change, expect.objectContaining({ isUsable: false })]);
  }
});

test('IDP-2 a provider that does not answer is given up on', async () => {
  const asked = new Promise<void>((resolve) => hostile.answers.set(METADATA, () => resolve()));
  const tested = testProvider();
  await asked;
  expect(await tested).toEqual({ isUsable: false, fault: 'timeout' });
});

test('IDP-2 a name that resolves to a private address later is not connected to (DNS rebinding)', async () => {
  let requests = 0;
  const listener = await startHttp((_request, response) => {
    requests += 1;
    response.end('{}');
  });
  const answers = ['127.0.0.1', '127.0.0.2'];
  const egress = createEgress(
    [parseTarget(`127.0.0.1/32:${listener.port}`) as Target],
    { maxAnswerBytes: 1_000, maxConnections: 8, timeoutMs: 2_000 },
    async () => [{ address: answers.shift() ?? '', family: 4 }] satisfies LookupAddress[],
  );
  try {
    const request = {
      method: 'GET',
      headers: { connection: 'close' },
      body: undefined,
      redirect: 'manual',
    } as const;
    const read = () => createProviderFetch(egress)(`http://login.example.com:${listener.port}/`, request);
    expect((await read()).status).toBe(200);
    await expect(read()).rejects.toMatchObject({ cause: { code: 'EDENIED' } });
    expect(requests).toBe(1);
  } finally {
    await egress.agent.destroy();
    await listener.close();
  }
});

test('IDP-2 the issuer is public and has TLS, unless the operator allows the target', async () => {
  const strict = await startIdentity();
  try {
    const token = await strict.login();
    for (const issuer of ['http://login.example.com', 'https://127.0.0.1']) {
      const { status, body } = await saveProvider(strict, token, { issuer });
      expect([issuer, status, body.error?.details?.[0]?.field]).toEqual([issuer, 400, 'issuer']);
    }
    expect((await saveProvider(strict, token, { issuer: 'https://login.example.com' })).status).toBe(200);
  } finally {
    await strict.close();
  }
});
