import type { Answer } from '@platform/testing';
import { startIdentity } from '../../identity.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const accept = 'application/json, text/event-stream';
const post = (raw: string, headers: Record<string, string> = {}, token: string | undefined = session) =>
  identity.call('POST', '/mcp', { ...(token && { token }), raw, headers: { accept, ...headers } });

/** A request of the revisions up to 2025-11-25. */
const legacy = (method: string, params?: object, version = '2025-06-18') =>
  post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }), {
    'mcp-protocol-version': version,
  });

/** Any code: the protocol leaves the choice. */
const CODE = expect.any(Number) as number;
const VERSION = '2026-07-28';
/** A request of the stateless revision: its metadata in the body, repeated in headers. */
function modern(method: string, params: object = {}, headers: Record<string, string> = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = (params as { name?: string }).name;
  return post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } }), {
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(name && { 'mcp-name': name }),
    ...headers,
  });
}

const expectError = ({ status, body }: Answer, expectedStatus: number, code: number): void => {
  expect([status, body]).toMatchObject([expectedStatus, { jsonrpc: '2.0', error: { code } }]);
};

test.each(['2025-03-26', '2025-06-18', '2025-11-25'])('initialize speaks %s', async (protocolVersion) => {
  const { status, body } = await legacy('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }, protocolVersion); // prettier-ignore
  expect([status, body.result]).toMatchObject([200, { protocolVersion, capabilities: { tools: {} } }]);
});

test('2026-07-28 supports discovery, list and call without initialize', async () => {
  const discovered = await modern('server/discover');
  expect(discovered.status).toBe(200);
  expect(discovered.body.result.supportedVersions).toContain(VERSION);
  const listed = await modern('tools/list');
  expect(listed.body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
  expect(listed.body.result.tools.map(({ name }: { name: string }) => name)).toEqual([
    'whoami',
    'list_my_tokens',
    'revoke_my_token',
  ]);
  const called = await modern('tools/call', { name: 'whoami', arguments: {} });
  expect(called.body).toMatchObject({
    id: 7,
    result: { structuredContent: { organisation: { id: identity.orgId } } },
  });
});

test('2026-07-28 rejects headers that contradict the body, an unknown version and an unknown method', async () => {
  expectError(await modern('tools/list', {}, { 'mcp-method': 'tools/call' }), 400, -32_020);
  expectError(
    await modern('tools/call', { name: 'whoami', arguments: {} }, { 'mcp-name': 'x' }),
    400,
    -32_020,
  );
  expectError(await modern('no/such/method'), 404, -32_601);
});

test('older revisions answer an unknown method with 200 and -32601, and an unknown version with 400', async () => {
  expectError(await legacy('no/such/method'), 200, -32_601);
  expect((await legacy('tools/list', undefined, '1999-01-01')).status).toBe(400);
});

test.each([
  ['broken JSON', '{"jsonrpc": "2.0", ', -32_700],
  ['no body', '', -32_700],
  ['a prototype key', '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{}}', CODE],
  ['a number', '1', CODE],
  ['null', 'null', CODE],
  ['an empty batch', '[]', CODE],
  ['no JSON-RPC', '{"id": 1, "method": "tools/list"}', CODE],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', CODE],
  ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, CODE],
])('rejects %s with 400 and a JSON-RPC error', async (_what, raw, code) => {
  expectError(await post(raw), 400, code);
});

test('rejects a batch, also one that cancels itself, without blocking others', async () => {
  const one = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  for (const batch of [
    [one(1), one(2)],
    [one(1), cancelled],
  ])
    expectError(await post(JSON.stringify(batch), { 'mcp-protocol-version': '2025-03-26' }), 400, CODE);
});

test('accepts a notification and responds without a body', async () => {
  const { status, text } = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect([status, text]).toEqual([202, '']);
});

test('rejects GET, DELETE and other methods with 405 and Allow: POST', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const answer = await identity.call(method, '/mcp', {
      token: session,
      headers: { accept: 'text/event-stream' },
    });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  }
});

test('rejects a foreign origin before anything else, and accepts its own', async () => {
  const raw = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:8081', 'http://127.0.0.1:8080.evil.example'])
    expect((await post(raw, { origin })).status).toBe(403);
  expect((await post(raw, { origin: 'https://evil.example' }, 'garbage')).status).toBe(403);
  expect((await post(raw, { origin: 'http://127.0.0.1:8080' })).status).toBe(200);
}); // prettier-ignore

test('a 401 refers to the resource metadata of RFC 9728', async () => {
  const pat = await identity.createToken(session, { scopes: ['user:read'] });
  const raw = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  expect((await post(raw, {}, pat.accessToken)).status).toBe(200);
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${pat.id}`, { token: session });
  for (const answer of [await post(raw, {}, pat.accessToken), await identity.call('POST', '/mcp', { raw })]) {
    expectError(answer, 401, -32_001);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer .*resource_metadata="http:\/\/127\.0\.0\.1:8080\/\.well-known\/oauth-protected-resource\/mcp"$/,
    );
  }
  const { body } = await identity.call('GET', '/.well-known/oauth-protected-resource/mcp');
  expect(body).toMatchObject({
    resource: 'http://127.0.0.1:8080/mcp',
    bearer_methods_supported: ['header'],
    scopes_supported: ['user:read', 'kb:read', 'crawl:read'],
  });
});
