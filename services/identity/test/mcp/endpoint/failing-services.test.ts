import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { createCaller } from './endpoint.js';

/* The requests of tools to the service behind them, and their results when it fails. */

let listen: RequestListener;

const broken = createServer((request, response) => {
  request.resume();
  request.once('end', () => listen(request, response));
});
await new Promise<void>((listening) => broken.listen(0, '127.0.0.1', listening));
const CRAWL_URL = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
const identity = await startIdentity({ environment: { CRAWL_URL, TOOL_TIMEOUT_MS: '300' } });
const session = await identity.login();
afterAll(async () => {
  await identity.close();
  broken.closeAllConnections();
  await new Promise((closed) => broken.close(closed));
});

const callTool = async (name: string, args: object = {}, headers = {}, token = session) =>
  (await createCaller(identity, token).legacy('tools/call', { name, arguments: args }, headers)).body.result;

test('a denied call names the missing scopes and role, and does not reach the service', async () => {
  listen = () => {
    throw new Error('the service was called');
  };
  const { session: member } = await identity.createMember(session);
  const { accessToken } = await identity.createToken(member, { scopes: ['crawl:read'] });
  const { content } = await callTool('schedule_crawl', { connector: 'db_1' }, {}, accessToken);
  expect(content[0].text).toBe(
    'This credential cannot call schedule_crawl. It lacks the scopes: crawl:write. Its owner is not an administrator.',
  );
});

test.each<[string, RequestListener, RegExp]>([
  ['is slow', () => undefined, /gave no answer in time/],
  ['hangs up', (request) => request.socket.destroy(), /gave no answer in time/],
  ['answers rubbish', (_request, response) => response.end('<html>'), /can't be understood/],
  ['answers another shape', (_request, response) => response.end('{"success":true}'), /can't be understood/],
])('a service that %s causes a tool error that says so', async (_what, listener, message) => {
  listen = listener;
  const result = await callTool('crawl_stats');
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
});

const answerError =
  (status: number, message: string, code = 'X'): RequestListener =>
  (_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { code, message } }));
  };
const logLines = () =>
  identity.logged().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // oxfmt-ignore

test.each([
  ['pause_crawl', 503, 'X', 'Failed; whether it was done is unknown'],
  ['pause_crawl', 500, 'X', 'Failed; whether it was done is unknown'],
  ['pause_crawl', 503, 'NOTHING_DONE', 'Failed; nothing was done'],
  // Looking changes nothing.
  ['crawl_stats', 500, 'X', 'Failed'],
])('%s that fails with %d %s says: %s', async (tool, status, code, text) => {
  listen = answerError(status, 'Failed', code);
  const args = tool === 'crawl_stats' ? {} : { connector: 'wiki_1' };
  expect(await callTool(tool, args)).toMatchObject({ isError: true, content: [{ text }] });
});

test('a server error is logged with its request and credential, and its text is cut to 2,000 characters', async () => {
  listen = answerError(500, 'x'.repeat(100_000));
  const { content } = await callTool('crawl_stats', {}, { 'x-request-id': 'failing-1' });
  expect(content[0].text).toHaveLength(2_000);
  const isFailure = ({ msg, requestId }: Record<string, unknown>) =>
    msg === 'tool call failed' && requestId === 'failing-1';
  const failure = { tool: 'crawl_stats', credentialId: expect.any(String) };
  expect(logLines().find(isFailure)).toMatchObject(failure);
});

test('an unresponsive database leaves the outcome of a revocation unknown', async () => {
  const { id } = await identity.createToken(session);
  const other = await identity.db.connect();
  try {
    await other.query('begin');
    await other.query('select from personal_access_tokens where id = $1 for update', [id]);
    expect(await callTool('revoke_my_token', { tokenId: id })).toMatchObject({
      isError: true,
      content: [{ text: 'Service temporarily unavailable; whether it was done is unknown' }],
    });
  } finally {
    await other.query('rollback');
    other.release();
  }
});

test('logs an outage of a service once a second, however many calls fail', async () => {
  listen = (request) => request.socket.destroy();
  const ids = Array.from({ length: 20 }, (_, index) => `away-${index}`);
  await Promise.all(ids.map((id) => callTool('crawl_stats', {}, { 'x-request-id': id })));
  const lines = logLines().filter(
    ({ requestId, tool }) => tool !== undefined && ids.includes(String(requestId)),
  );
  expect(lines.length).toBeLessThan(ids.length / 2);
});

test('does not log a cancelled call as an error', async () => {
  const isOfCall = ({ requestId, tool }: Record<string, unknown>) => requestId === 'given-up' && tool !== undefined;
  const controller = new AbortController();
  listen = () => controller.abort();
  const asked = identity.call('POST', '/mcp', {
    token: session,
    signal: controller.signal,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'crawl_stats', arguments: {} } },
    headers: { 'x-request-id': 'given-up' },
  });
  await expect(asked).rejects.toThrow(/abort/i);
  await waitFor(() => logLines().some(isOfCall), { what: 'the log of the call' });
  const line = { level: 'debug', msg: 'the client cancelled the tool call' };
  expect(logLines().filter(isOfCall)).toMatchObject([line]);
}); // oxfmt-ignore

test("passes the caller's credential, the request id and the trace context to the service", async () => {
  const seen: unknown[] = [];
  listen = ({ headers }, response) => {
    seen.push([headers.authorization, headers['x-request-id'], headers.traceparent, headers.tracestate]);
    response.end('{}');
  };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await callTool('crawl_stats', {}, { 'x-request-id': 'call-1', traceparent, tracestate: 'a=b' });
  await createCaller(identity, session).legacy('tools/call', { name: 'crawl_stats', _meta: { traceparent } });
  await callTool('crawl_stats', {}, { 'x-request-id': 'call-2', traceparent: 'x' });
  expect(seen).toEqual([
    [`Bearer ${session}`, 'call-1', traceparent, 'a=b'],
    [`Bearer ${session}`, expect.any(String), traceparent, undefined],
    [`Bearer ${session}`, 'call-2', undefined, undefined],
  ]);
});
