import type { Answer } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { createCaller, VERSION } from './endpoint.js';

const identity = await startIdentity();
const caller = createCaller(identity, await identity.login());
afterAll(() => identity.close());

const expectFault = ({ status, body }: Answer, expected: number | readonly number[], message?: RegExp) => {
  expect([expected].flat()).toContain(status);
  expect(body).toMatchObject({
    jsonrpc: '2.0',
    error: { code: expect.any(Number), message: expect.stringMatching(message ?? /./) },
  });
};

const whoami = { name: 'whoami', arguments: {} };

test.each([
  ['tools/list', undefined],
  ['tools/call', whoami],
  ['tools/call', { name: 'whoami', arguments: { a: 1 } }],
  ['tools/call', { name: 'no_such_tool' }],
])('unknown metadata and an encoded name do not change the response to %s %j', async (method, params) => {
  const plain = await caller.legacy(method, params);
  expect(plain.body.id).toBe(1);
  const extended = await caller.legacy(method, { ...params, _meta: { other: true } });
  expect([plain.status, plain.body]).toEqual([extended.status, extended.body]);
  const name = params ? `=?base64?${Buffer.from(params.name).toString('base64')}?=` : 'x';
  const modern = await caller.modern(method, params);
  const encoded = await caller.modern(method, params, { 'mcp-name': name });
  expect([modern.status, modern.body]).toEqual([encoded.status, encoded.body]);
});

const listWithId = (id: string) => caller.post(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);

test.each(['"x"', '""', '0', '-7'])('responds with the id %s of the request', async (id) => {
  expect((await listWithId(id)).body).toMatchObject({ id: JSON.parse(id), result: {} });
});

test.each(['null', '1.5', 'true', '[1]', '{}'])('rejects %s as an id', async (id) => {
  expectFault(await listWithId(id), 400);
});

test.each([
  ['80,000 arguments', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`k${index}`, 1])) } }), /10000 values/],
  ['10,000 levels of arguments', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}}`, /64 levels/],
  ['a prototype key in the arguments', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{"__proto__":{"a":1}}}}', /must not have the key "__proto__"/],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', /one message/],
  ['a number', '7', /object/],
  ['JSON-RPC 1.0', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', undefined],
  ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}', undefined],
])('rejects %s', async (_what, raw, message) => {
  expectFault(await caller.post(raw), 400, message);
}); // prettier-ignore

test.each<[string, unknown]>([
  ['text', 'x'],
  ['an array', [1]],
  ['a number', 1],
])('rejects parameters that are %s with a protocol error', async (_what, params) => {
  expectFault(await caller.legacy('tools/call', params as object), [200, 400]);
});

test.each(['../whoami', 'whoami/..', 'tools/whoami', '', 'WHOAMI', '__proto__', 'constructor', 'x'.repeat(5_000)])(
  'the tool name %p is unknown',
  async (name) => {
    expectFault(await caller.legacy('tools/call', { name, arguments: {} }), 200, /Unknown tool/);
  },
); // prettier-ignore

test('rejects any cursor, because the list has one page', async () => {
  for (const cursor of ['x', 'x'.repeat(100_000)])
    expectFault(await caller.legacy('tools/list', { cursor }), 200, /cursor/);
});

const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };

test.each<[string, unknown, RegExp]>([
  ['initialize', undefined, /params/],
  ['initialize', {}, /protocolVersion/],
  ['initialize', { ...client, protocolVersion: 7 }, /protocolVersion/],
  ['initialize', { ...client, capabilities: [] }, /capabilities/],
  ['initialize', { ...client, clientInfo: { name: 'x' } }, /clientInfo\.version/],
  ['tools/list', { cursor: 7 }, /cursor/],
  ['tools/call', {}, /^Invalid tools\/call request: params\.name: [^[]*$/],
  ['tools/call', { name: 7 }, /name/],
  ['tools/call', { name: 'whoami', arguments: [] }, /arguments/],
])('rejects invalid parameters of %s as a client error that names them: %j', async (method, params, message) => {
  const answer = await caller.legacy(method, params as object);
  expectFault(answer, 200, message);
  expect(answer.body.error.code).toBe(-32_602);
}); // prettier-ignore

test('ends a subscription at once, because there are no changes to report', async () => {
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const { status, text } = await caller.modern('subscriptions/listen', { notifications });
  const messages = text.split('\n').filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice(6))); // prettier-ignore
  expect([status, messages.at(-1)]).toMatchObject([200, { id: 1, result: { resultType: 'complete' } }]);
});

test.each([['a stray byte', [0xff]], ['a sequence that is cut off', [0xf0, 0x9f, 0x98]]])(
  'rejects bytes that are not UTF-8: %s',
  async (_what, bytes) => {
    const whole = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: { a: '?' } } });
    const at = whole.indexOf('?');
    const body = Buffer.concat([Buffer.from(whole.slice(0, at)), Buffer.from(bytes), Buffer.from(whole.slice(at + 1))]);
    const answer = await fetch(`${identity.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await identity.login()}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
  },
); // prettier-ignore

test('rejects a message over 1 MiB with 413', async () => {
  expectFault(await caller.legacy('tools/call', { ...whoami, arguments: { a: 'x'.repeat(1_048_577) } }), 413);
});

test('rejects headers that are missing, wrong or contradict the body, in both eras', async () => {
  const named = { ...whoami };
  for (const headers of [
    { 'mcp-protocol-version': '2025-11-25' },
    { 'mcp-method': 'tools/list' },
    { 'mcp-method': '' },
    { 'mcp-name': 'list_my_tokens' },
    { 'mcp-name': '' },
    { 'mcp-protocol-version': '' },
  ])
    expectFault(await caller.modern('tools/call', named, headers), 400);
  for (const version of ['1999-01-01', 'x', VERSION, '2026-07-29'])
    expectFault(await caller.legacy('tools/list', undefined, { 'mcp-protocol-version': version }), 400);
});

test('reports invalid headers before invalid parameters', async () => {
  const cursor = { cursor: 7 };
  const mismatch = await caller.modern('tools/list', cursor, { 'mcp-method': 'tools/call' });
  expect([mismatch.status, mismatch.body]).toMatchObject([400, { error: { code: -32_020 } }]);
  for (const [method, params] of [['tools/list', cursor], ['initialize', {}], ['tools/call', {}]] as const) {
    expectFault(await caller.legacy(method, params, { 'mcp-protocol-version': '1999-01-01' }), 400, /protocol version/);
    expectFault(await caller.legacy(method, params, { accept: 'text/html' }), 406);
  }
}); // prettier-ignore

test('rejects an unknown version and names the supported ones', async () => {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01', 'io.modelcontextprotocol/clientCapabilities': {} };
  const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
  const answer = await caller.post(raw, { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' });
  expect([answer.status, answer.body]).toMatchObject([400, { error: { code: -32_022, data: { supported: [VERSION] } } }]);
}); // prettier-ignore
