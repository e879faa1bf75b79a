import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { Answer } from '@platform/testing';
import { LEGACY_VERSIONS } from '../../../src/mcp/endpoint/protocol-era.js';
import { startIdentity } from '../../identity.js';
import { sendRaw } from '../../raw-http.js';
import { startReplica } from '../../replica.js';
import { createCaller, VERSION } from './endpoint.js';

const identity = await startIdentity();
const session = await identity.login();
const { post, legacy, modern } = createCaller(identity, session);
afterAll(() => identity.close());

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const whoami = { name: 'whoami', arguments: {} };
const asRevision = (version: string) => ({ 'mcp-protocol-version': version });

function expectError({ status, body }: Answer, expected: number, error: object = {}): void {
  const fault = { code: expect.any(Number), message: expect.stringMatching(/./), ...error };
  expect([status, body]).toMatchObject([expected, { jsonrpc: '2.0', error: fault }]);
}
const saying = (message: RegExp) => ({ message: expect.stringMatching(message) });
const readEvents = (stream: string) =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

test('the earlier revisions are those of the official SDK', () => {
  expect(LEGACY_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
});

test.each(['2025-03-26', '2025-06-18', '2025-11-25'])('initialize speaks %s', async (protocolVersion) => {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { status, body } = await legacy('initialize', params, asRevision(protocolVersion));
  expect([status, body.result]).toMatchObject([200, { protocolVersion, capabilities: { tools: {} } }]);
});

test('2026-07-28 supports discovery, list and call without initialize', async () => {
  const discovered = await modern('server/discover');
  expect(discovered.body.result.supportedVersions).toContain(VERSION);
  const { result } = (await modern('tools/list')).body;
  expect(result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
  // There are no other services, and so none of their tools.
  const names = result.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['whoami', 'list_my_tokens', 'revoke_my_token']);
  const called = await modern('tools/call', whoami);
  const structuredContent = { organisation: { id: identity.orgId } };
  expect(called.body).toMatchObject({ id: 1, result: { structuredContent } });
});

test('whoami describes a session and a token, and the text of a result equals its structured content', async () => {
  const pat = await identity.createToken(session, { scopes: ['user:read', 'pat:read'] });
  for (const [token, credential] of [
    [session, { kind: 'session', scopes: null }],
    [pat.accessToken, { kind: 'pat', scopes: ['user:read', 'pat:read'] }],
  ] as const) {
    const { result } = (await createCaller(identity, token).legacy('tools/call', whoami)).body;
    expect(result.structuredContent).toMatchObject({
      user: { email: 'admin@example.com', role: 'admin', orgId: identity.orgId },
      organisation: { id: identity.orgId, name: 'Example' },
      credential,
    });
    expect(JSON.parse(result.content[0].text as string)).toEqual(result.structuredContent);
  }
});

describe.each(['legacy', 'modern'] as const)('the Accept header, %s', (era) => {
  const send = era === 'legacy' ? legacy : modern;

  test.each([
    ['*/*', JSON_TYPE],
    [JSON_TYPE, JSON_TYPE],
    [`${JSON_TYPE}, ${STREAM_TYPE}`, JSON_TYPE],
    [STREAM_TYPE, STREAM_TYPE],
  ])('%s gets %s', async (accept, type) => {
    for (const [method, params] of [
      ['tools/list', undefined],
      ['tools/call', whoami],
    ] as const) {
      const { status, headers, text, body } = await send(method, params, { accept });
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
      expect(type === STREAM_TYPE ? readEvents(text) : [body]).toMatchObject([{ id: 1, result: {} }]);
    }
  });

  test('text/html gets 406', async () => {
    expectError(await send('tools/list', undefined, { accept: 'text/html' }), 406, saying(/event-stream/));
  });
});

test('MCP-3: a request without an Accept header gets JSON', async () => {
  const head = `POST /mcp HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${session}\r\ncontent-type: ${JSON_TYPE}`;
  const raw = `${head}\r\ncontent-length: ${LIST.length}\r\nconnection: close\r\n\r\n${LIST}`;
  const { status, headers } = await sendRaw(identity.url, raw);
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining(JSON_TYPE)]);
});

test('ends a subscription at once, because there are no changes to report, and streams it only to clients that accept streams', async () => {
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const { status, text } = await modern('subscriptions/listen', { notifications });
  expect([status, readEvents(text).at(-1)]).toMatchObject([
    200,
    { id: 1, result: { resultType: 'complete' } },
  ]);
  const accept = { accept: '*/*' };
  expect((await modern('subscriptions/listen', { notifications }, accept)).status).toBe(406);
});

test.each([
  ['tools/list', undefined],
  ['tools/call', whoami],
  ['tools/call', { name: 'whoami', arguments: { a: 1 } }],
  ['tools/call', { name: 'no_such_tool' }],
])('unknown metadata and an encoded name do not change the response to %s %j', async (method, params) => {
  const plain = await legacy(method, params);
  expect(plain.body.id).toBe(1);
  const extended = await legacy(method, { ...params, _meta: { other: true } });
  expect([plain.status, plain.body]).toEqual([extended.status, extended.body]);
  const name = params ? `=?base64?${Buffer.from(params.name).toString('base64')}?=` : 'x';
  const unencoded = await modern(method, params);
  const encoded = await modern(method, params, { 'mcp-name': name });
  expect([unencoded.status, unencoded.body]).toEqual([encoded.status, encoded.body]);
});

const listWithId = (id: string) => post(LIST.replace(':1,', `:${id},`));

test.each(['"x"', '""', '0', '-7'])('responds with the id %s of the request', async (id) => {
  expect((await listWithId(id)).body).toMatchObject({ id: JSON.parse(id), result: {} });
});

test.each(['null', '1.5', 'true', '[1]', '{}'])('rejects %s as an id', async (id) => {
  expectError(await listWithId(id), 400);
});

const callWith = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":${args}}}`;
const manyArguments = JSON.stringify(Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [n, 1])));

test.each<[string, string, object?]>([
  ['broken JSON', '{"jsonrpc": "2.0", ', { code: -32_700 }],
  ['no body', '', { code: -32_700 }],
  ['a number', '1', saying(/object/)],
  ['null', 'null'],
  ['10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000)],
  ['10,000 levels of arguments', callWith('{"a":'.repeat(10_000) + 1 + '}'.repeat(10_000)), saying(/64 levels/)],
  ['12,000 arguments', callWith(manyArguments), saying(/10000 values/)],
  ['a prototype key in the arguments', callWith('{"__proto__":{"a":1}}'), saying(/the key "__proto__"/)],
  ['an empty batch', '[]'],
  ['a batch', `[${LIST}]`, saying(/one message/)],
  ['a batch that cancels itself', `[${LIST},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`],
  ['no JSON-RPC', '{"id": 1, "method": "tools/list"}'],
  ['JSON-RPC 1.0', LIST.replace('2.0', '1.0')],
  ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}'],
])('rejects %s', async (_what, raw, error) => {
  for (const version of ['2025-03-26', '2025-11-25']) expectError(await post(raw, asRevision(version)), 400, error);
}); // oxfmt-ignore

test.each([
  ['a stray byte', [0xff]],
  ['a sequence that is cut off', [0xf0, 0x9f, 0x98]],
])('rejects bytes that are not UTF-8: %s', async (_what, bytes) => {
  const [before = '', after = ''] = callWith('{"a":"?"}').split('?');
  const answer = await fetch(`${identity.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': JSON_TYPE },
    body: Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]),
  });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
});

test('rejects a message over 1 MiB with 413', async () => {
  expectError(await post(callWith(`{"a":"${'x'.repeat(1_048_577)}"}`)), 413);
});

test.each(['../whoami', 'whoami/..', '', 'WHOAMI', '__proto__', 'constructor', 'x'.repeat(5_000)])(
  'the tool name %p is unknown',
  async (name) => {
    expectError(await legacy('tools/call', { name, arguments: {} }), 200, saying(/Unknown tool/));
  },
);

const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };

test.each<[string, unknown, RegExp]>([
  ['initialize', undefined, /params/],
  ['initialize', {}, /protocolVersion/],
  ['initialize', { ...client, protocolVersion: 7 }, /protocolVersion/],
  ['initialize', { ...client, capabilities: [] }, /capabilities/],
  ['initialize', { ...client, clientInfo: { name: 'x' } }, /clientInfo\.version/],
  ['tools/list', { cursor: 7 }, /cursor/],
  // The list has one page.
  ['tools/list', { cursor: 'x'.repeat(100_000) }, /cursor/],
  ['tools/call', {}, /^Invalid tools\/call request: params\.name: [^[]*$/],
  ['tools/call', { name: 7 }, /name/],
  ['tools/call', { name: 'whoami', arguments: [] }, /arguments/],
])('rejects invalid parameters of %s as a client error that names them: %j', async (method, params, message) => {
  expectError(await legacy(method, params as object), 200, { code: -32_602, ...saying(message) });
}); // oxfmt-ignore

test.each<[string, unknown]>([
  ['text', 'x'],
  ['an array', [1]],
  ['a number', 1],
])('rejects parameters that are %s with a protocol error', async (_what, params) => {
  const { status, body } = await legacy('tools/call', params as object);
  expect([200, 400]).toContain(status);
  expect(body.error.code).toEqual(expect.any(Number));
});

test.each([
  { 'mcp-protocol-version': '2025-11-25' },
  { 'mcp-protocol-version': '' },
  { 'mcp-method': 'tools/list' },
  { 'mcp-method': '' },
  { 'mcp-name': 'list_my_tokens' },
  { 'mcp-name': '' },
])('2026-07-28 rejects a header that is missing or contradicts the body: %j', async (headers) => {
  expectError(await modern('tools/call', whoami, headers), 400);
});

test('reports invalid headers before invalid parameters', async () => {
  const cursor = { cursor: 7 };
  const mismatch = await modern('tools/list', cursor, { 'mcp-method': 'tools/call' });
  expectError(mismatch, 400, { code: -32_020 });
  for (const [method, params] of [['tools/list', cursor], ['initialize', {}], ['tools/call', {}]] as const) {
    expectError(await legacy(method, params, asRevision('1999-01-01')), 400, saying(/protocol version/));
    expectError(await legacy(method, params, { accept: 'text/html' }), 406);
  }
}); // oxfmt-ignore

test('MCP-25: takes null in an optional parameter for absence', async () => {
  const { body } = await legacy('tools/call', { name: 'whoami', arguments: null, _meta: null });
  expect(body.result.structuredContent.user.email).toBe('admin@example.com');
  expect(
    (await modern('tools/call', { name: 'whoami', arguments: null })).body.result.isError,
  ).toBeUndefined();
  expect((await legacy('tools/list', { cursor: null })).body.result.tools).not.toEqual([]);
  const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: null });
  expect((await post(raw)).body.result.tools).not.toEqual([]);
});

test('MCP-25: answers at the address with a slash, too', async () => {
  const { status, body } = await legacy('tools/call', whoami, {}, '/mcp/');
  expect([status, body.result.isError]).toEqual([200, undefined]);
  expect((await identity.call('GET', '/mcp/')).headers.get('allow')).toBe('POST');
});

test('names no version that the client has not named', async () => {
  for (const version of ['x', '2026-07-29']) {
    const { status, body } = await legacy('tools/list', undefined, asRevision(version));
    expect([status, body.error.code, body.error.data.requested]).toEqual([400, -32_022, version]);
    expect(body.error.message).toBe(`Unsupported protocol version: ${version}`);
    expect(body.error.data.supported).toEqual(expect.arrayContaining([VERSION, '2025-11-25', '2025-03-26']));
  }
});

test('rejects an unknown version, and in the stateless revision names the supported ones', async () => {
  for (const version of ['1999-01-01', 'x', VERSION, '2026-07-29'])
    expectError(await legacy('tools/list', undefined, asRevision(version)), 400);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2099-01-01',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
  const answer = await post(raw, { ...asRevision('2099-01-01'), 'mcp-method': 'tools/list' });
  expectError(answer, 400, { code: -32_022, data: { supported: [VERSION] } });
});

test('answers an unknown method with 404 in the stateless revision, and with 200 in older ones', async () => {
  expectError(await modern('no/such/method'), 404, { code: -32_601 });
  expectError(await legacy('no/such/method'), 200, { code: -32_601 });
});

test('accepts a notification and responds without a body', async () => {
  const { status, text } = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect([status, text]).toEqual([202, '']);
});

test('MCP-4: rejects GET, DELETE and other methods with 405 and Allow: POST', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const headers = { accept: STREAM_TYPE };
    const answer = await identity.call(method, '/mcp', { token: session, headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  }
});

test('MCP-4: rejects a foreign origin before anything else, and accepts its own', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:8081', 'http://127.0.0.1:8080.evil.example'])
    expect((await post(LIST, { origin })).status).toBe(403);
  const garbage = createCaller(identity, 'garbage');
  expect((await garbage.post(LIST, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(LIST, { origin: 'http://127.0.0.1:8080' })).status).toBe(200);
}); // oxfmt-ignore

test('MCP-5: a token is refused at once when it is revoked, with the resource metadata of RFC 9728', async () => {
  const pat = await identity.createToken(session, { scopes: ['user:read'] });
  const agent = createCaller(identity, pat.accessToken);
  expect((await agent.post(LIST)).status).toBe(200);
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${pat.id}`, { token: session });
  const refused = await agent.post(LIST);
  expectError(refused, 401, { code: -32_001 });
  expect(refused.headers.get('www-authenticate')).toMatch(
    /^Bearer .*resource_metadata="http:\/\/127\.0\.0\.1:8080\/\.well-known\/oauth-protected-resource\/mcp"$/,
  );
});

test('limits the requests per minute of each credential separately, and refills over time', async () => {
  const limited = await startReplica(identity.databaseUrl, { MCP_REQUESTS_PER_MINUTE: '4' });
  try {
    const createAgent = async () => createCaller(limited, (await identity.createToken(session)).accessToken);
    const [busy, calm] = [await createAgent(), await createAgent()];
    expect((await busy.legacy('tools/list')).status).toBe(200);
    expect((await busy.post('not JSON')).status).toBe(400);
    expect((await busy.modern('tools/list')).status).toBe(200);
    expect((await busy.legacy('ping')).status).toBe(200);
    const refused = await busy.legacy('tools/list');
    expectError(refused, 429, { message: 'Too many requests of this credential' });
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(15);
    expect((await calm.legacy('tools/list')).status).toBe(200);
    limited.advance(retryAfter * 1_000);
    expect((await busy.legacy('tools/list')).status).toBe(200);
    expect((await busy.legacy('tools/list')).status).toBe(429);
  } finally {
    await limited.close();
  }
});
