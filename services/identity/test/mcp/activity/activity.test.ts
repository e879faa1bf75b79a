import { randomUUID } from 'node:crypto';
import { createLogger, DAY_MS, systemClock } from '@platform/service-kit';
import { createExpiryJob } from '../../../src/jobs/expiry.job.js';
import { createToolCallRecorder } from '../../../src/mcp/activity/recorder.js';
import { type CreatedToken, startIdentity } from '../../identity.js';
import { createCaller } from '../endpoint/endpoint.js';

const log = createLogger('test', 'silent');
const identity = await startIdentity({ environment: { CRAWL_URL: 'http://127.0.0.1:9' } });
const session = await identity.login();
afterAll(() => identity.close());

const getActivity = ({ id }: Pick<CreatedToken, 'id'>, token: string, query = '') =>
  identity.call('GET', `/api/v1/personal-access-tokens/${id}/activity${query}`, { token });
async function written(token: CreatedToken, calls: number) {
  for (;;) {
    const { body } = await getActivity(token, session, '?limit=100');
    if (body.data.length >= calls) return body.data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
async function callTimes(token: CreatedToken, times: number) {
  const { legacy } = createCaller(identity, token.accessToken);
  for (let count = 0; count < times; count += 1)
    await legacy('tools/call', { name: 'whoami', arguments: {} });
  return written(token, times);
}

test('lists each call with its tool, outcome, duration, request id and client, in both eras', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read', 'pat:write', 'crawl:read'] });
  const { legacy, modern } = createCaller(identity, token.accessToken);
  const call = (name: string, args: object, id: string, headers = {}) =>
    legacy('tools/call', { name, arguments: args }, { 'x-request-id': id, 'user-agent': 'agent\u0085/1', ...headers });
  await call('whoami', {}, 'call-1');
  await call('whoami', { secret: 'not-to-be-kept' }, 'call-2');
  await call('list_my_tokens', {}, 'call-3');
  await call('whoami', {}, 'call-4', { 'x-mcp-tools': 'list_my_tokens' });
  await call('revoke_my_token', { tokenId: randomUUID(), reason: 'not-to-be-kept' }, 'call-5');
  await call('crawl_stats', {}, 'call-6');
  await call('no_such_tool', {}, 'call-7');
  await modern('tools/call', { name: 'whoami', arguments: {} }, { 'x-request-id': 'call-8' });
  const calls = await written(token, 8);
  expect(calls.map(({ requestId, tool, outcome, client }: Record<string, string>) => [requestId, tool, outcome, client])).toEqual([
    ['call-8', 'whoami', 'completed', 'test 1'],
    ['call-7', 'no_such_tool', 'denied', 'agent /1'],
    ['call-6', 'crawl_stats', 'failed', 'agent /1'],
    ['call-5', 'revoke_my_token', 'refused', 'agent /1'],
    ['call-4', 'whoami', 'denied', 'agent /1'],
    ['call-3', 'list_my_tokens', 'denied', 'agent /1'],
    ['call-2', 'whoami', 'invalid_arguments', 'agent /1'],
    ['call-1', 'whoami', 'completed', 'agent /1'],
  ]);
  const { body: me } = await identity.call('GET', '/api/v1/users/me', { token: session });
  expect(calls[0]).toEqual({ id: expect.any(String), userId: me.user.id, via: 'mcp', tool: 'whoami', outcome: 'completed', reason: null, lacks: [], durationMs: expect.any(Number), requestId: 'call-8', address: '127.0.0.1', client: 'test 1', credential: { kind: 'pat', id: token.id }, clientId: null, createdAt: expect.stringMatching(/Z$/) });
  // A UUIDv7 of the time of the call.
  expect(calls[0].id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect(Number.parseInt(calls[0].id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse(calls[0].createdAt));
  const { rows } = await identity.db.query('select row_to_json(t)::text as row from tool_calls t');
  const stored = JSON.stringify(rows);
  for (const secret of ['not-to-be-kept', token.accessToken, 'admin@example.com']) expect(stored).not.toContain(secret);
  const failed = identity.logged().split('\n').find((line) => line.includes('"tool call failed"'));
  expect(JSON.parse(failed ?? '{}')).toMatchObject({ tool: 'crawl_stats', requestId: 'call-6' });
}); // oxfmt-ignore

test('cuts and cleans hostile client names', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const { post } = createCaller(identity, token.accessToken);
  const statuses: number[] = [];
  for (const name of ['a\u0000b', '\ud83d', `'; drop table tool_calls; --`, 'x'.repeat(10_000), 7, ' ']) {
    const { status } = await post(
      JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call',
        params: { name: 'whoami', arguments: {}, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name, version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} } },
      }),
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'whoami' },
    );
    statuses.push(status);
  }
  expect(statuses).toEqual([400, 400, 200, 200, 400, 200]);
  const clients = (await written(token, 3)).map(({ client }: { client: string }) => client).toReversed();
  expect(clients).toEqual([`'; drop table tool_calls; -- 1`, 'x'.repeat(100), '1']);
}); // oxfmt-ignore

test('the pages contain each call once, newest first', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const all = await callTimes(token, 5);
  const seen: object[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await getActivity(
      token,
      session,
      `?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    seen.push(...body.data);
    cursor = body.nextCursor as string | null;
  } while (cursor !== null);
  expect(seen).toEqual(all);
});

test("shows the activity to the owner and to an administrator's session, also of a revoked token, and 404 to another member", async () => {
  const owner = await identity.createMember(session);
  const other = await identity.createMember(session);
  const token = await identity.createToken(owner.session, { scopes: ['user:read', 'pat:read'] });
  const calls = await callTimes(token, 1);
  expect(calls[0].userId).toBe(owner.id);
  for (const credential of [owner.session, token.accessToken, session])
    expect((await getActivity(token, credential)).body.data).toEqual(calls);
  const unknown = await getActivity({ id: randomUUID() }, session);
  const { accessToken: adminToken } = await identity.createToken(session, { scopes: ['pat:read'] });
  for (const credential of [other.session, adminToken]) {
    const { status, body } = await getActivity(token, credential);
    expect([status, body]).toEqual([404, unknown.body]);
  }
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${token.id}`, { token: owner.session });
  expect((await getActivity(token, owner.session)).body.data).toEqual(calls);
});

test('writes collected calls at shutdown, and keeps calls that cannot be written without duplicating them', async () => {
  const { orgId } = identity;
  const principal = { orgId, userId: randomUUID(), kind: 'pat', credentialId: randomUUID() } as never;
  let isAway = true;
  const pool = {
    query: async (statement: { text: string; values: unknown[] }) => {
      const answer = await identity.db.query(statement);
      // The worst failure: the statement is committed, but its response is lost.
      if (isAway) throw new Error('connection lost');
      return answer;
    },
  } as unknown as typeof identity.db;
  const recorder = createToolCallRecorder({ pool, clock: systemClock, log });
  const record = () => recorder.record({ principal, tool: 'whoami', outcome: 'completed', durationMs: 1.5, requestId: 'r', client: undefined, address: undefined });
  for (let count = 0; count < 25; count += 1) record();
  await recorder.flush();
  for (let count = 0; count < 2_000; count += 1) record();
  isAway = false;
  await recorder.stop();
  const { rows } = await identity.db.query('select count(*)::int from tool_calls where credential_id = $1', [(principal as { credentialId: string }).credentialId]);
  expect(rows).toEqual([{ count: 2_025 }]);
}); // oxfmt-ignore

test('deletes calls after their retention and not before, and never changes one', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  await callTimes(token, 3);
  await expect(identity.db.query('update tool_calls set tool = $1', ['x'])).rejects.toThrow('append-only');
  const sweepIn = (days: number) =>
    createExpiryJob({ pool: identity.db, clock: () => Date.now() + days * DAY_MS, log, toolCallDays: 7, auditDays: 730 }).sweep();
  await sweepIn(6.9);
  // Sessions are gone by then.
  const stored = async () => (await identity.db.query('select id from tool_calls where credential_id = $1', [token.id])).rowCount;
  expect(await stored()).toBe(3);
  await sweepIn(7.1);
  expect(await stored()).toBe(0);
}); // oxfmt-ignore
