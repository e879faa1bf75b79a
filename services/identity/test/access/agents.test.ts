import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startWithApplication } from '../oauth/connected-application.js';

/* Agents: tokens, connected apps and service accounts, each with its calls and with what was refused to it. */

const running = await startWithApplication({
  MCP_REQUESTS_PER_MINUTE: '30',
  CRAWL_URL: 'http://127.0.0.1:9',
});
const { identity, session, clientId, connect } = running;
afterAll(() => running.close());

interface Call {
  readonly tool: string;
  readonly via: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly lacks: string[];
  readonly requestId: string;
  readonly address: string | null;
  readonly client: string | null;
}

const read = (path: string, token = session) => identity.call('GET', `/api/v1/agents/${path}`, { token });
/** Waits for the calls of an agent, which are written in batches. */
const readCalls = (path: string, count: number, token = session): Promise<Call[]> =>
  waitFor(
    async () => {
      const { body } = await read(`${path === '' ? '' : `${path}/`}calls?limit=100`, token);
      return body.data?.length >= count && body.data;
    },
    { what: `${count} calls of ${path}` },
  );
const brief = ({ via, tool, outcome, reason, lacks }: Call) => [via, tool, outcome, reason, lacks.join(' ')];
const callTool = (token: string, name: string, headers = {}) =>
  createCaller(identity, token).legacy('tools/call', { name, arguments: {} }, headers);

test('each refused call has its reason, and the scopes that would mend it [MCP-70]', async () => {
  const token = await identity.createToken(session, {
    scopes: ['user:read', 'pat:read'],
    bounds: { tools: ['whoami', 'crawl_stats'] },
  });
  const own = await identity.createMember(session);
  const member = await identity.createToken(own.session, { scopes: ['crawl:read'] });
  const headers = { 'user-agent': 'agent/1', 'x-request-id': 'refused-1' };
  await callTool(token.accessToken, 'crawl_stats', headers);
  await callTool(token.accessToken, 'list_my_tokens');
  await callTool(token.accessToken, `no_such\u0085tool${'x'.repeat(300)}`);
  await callTool(token.accessToken, 'whoami', { 'x-mcp-tools': 'crawl_stats' });
  await callTool(member.accessToken, 'crawl_stats');
  const calls = await readCalls(`token/${token.id}`, 4);
  expect(calls.map(brief)).toEqual([
    ['mcp', 'whoami', 'denied', 'filter', ''],
    ['mcp', `no_such tool${'x'.repeat(116)}`, 'denied', 'unknown_tool', ''],
    ['mcp', 'list_my_tokens', 'denied', 'bounds', ''],
    ['mcp', 'crawl_stats', 'denied', 'scope', 'crawl:read'],
  ]);
  expect(calls[3]).toMatchObject({ requestId: 'refused-1', address: '127.0.0.1', client: 'agent/1' });
  expect((await readCalls(`token/${member.id}`, 1)).map(brief)).toEqual([
    ['mcp', 'crawl_stats', 'denied', 'role', ''],
  ]);
});

test('a refused REST request is recorded once a minute, with its route and without what is in it [AUD-25]', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const ask = (path: string, method = 'GET') =>
    identity.call(method, path, { token: token.accessToken, headers: { 'user-agent': 'script/2' } });
  const secret = `/api/v1/personal-access-tokens/${randomUUID()}?reason=not-to-be-kept`;
  for (let count = 0; count < 3; count += 1) expect((await ask(secret, 'DELETE')).status).toBe(403);
  expect((await ask('/api/v1/connected-apps')).status).toBe(403);
  expect((await ask('/api/v1/users/me')).status).toBe(200);
  expect((await ask('/api/v1/nothing')).status).toBe(404);
  const calls = await readCalls(`token/${token.id}`, 2);
  expect(calls.map(brief)).toEqual([
    ['rest', 'GET /api/v1/connected-apps', 'denied', 'session', ''],
    ['rest', 'DELETE /api/v1/personal-access-tokens/:tokenId', 'denied', 'scope', 'pat:write'],
  ]);
  expect(calls[0]).toMatchObject({ address: '127.0.0.1', client: 'script/2', requestId: expect.any(String) });
  const { rows } = await identity.db.query('select row_to_json(t)::text as row from tool_calls t');
  const stored = JSON.stringify(rows);
  for (const kept of ['not-to-be-kept', token.accessToken]) expect(stored).not.toContain(kept);
});

test('a use after the end is recorded for a token that the platform signed, and for nothing else [AUD-25]', async () => {
  const revoked = await identity.createToken(session, { scopes: ['user:read'] });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${revoked.id}`, { token: session });
  const short = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 30 });
  const use = (token: string) => identity.call('GET', '/api/v1/users/me', { token });
  expect((await use(revoked.accessToken)).status).toBe(401);
  expect((await use(`${revoked.accessToken.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
  expect((await callTool(revoked.accessToken, 'whoami')).status).toBe(401);
  const calls = await readCalls(`token/${revoked.id}`, 2);
  expect(calls.map(brief)).toEqual([
    ['mcp', 'POST /mcp', 'denied', 'inactive', ''],
    ['rest', 'GET /api/v1/users/me', 'denied', 'inactive', ''],
  ]);
  identity.advance(31 * 86_400_000);
  expect((await use(short.accessToken)).status).toBe(401);
  const later = await identity.login();
  expect((await readCalls(`token/${short.id}`, 1, later)).map(brief)).toEqual([
    ['rest', 'GET /api/v1/users/me', 'denied', 'expired', ''],
  ]);
  identity.advance(-31 * 86_400_000);
});

test('what is refused in a session is recorded, and administrators read it [AUD-25]', async () => {
  const member = await identity.createMember(session);
  const [{ id: sessionId }] = (await identity.call('GET', '/api/v1/sessions', { token: member.session })).body
    .sessions as [{ id: string }];
  const path = `/api/v1/users/${member.id}/sessions/${sessionId}/calls`;
  for (const asked of ['/api/v1/service-accounts', path])
    expect((await identity.call('GET', asked, { token: member.session })).status).toBe(403);
  await identity.call('POST', '/api/v1/auth/logout', { token: member.session });
  expect((await identity.call('GET', '/api/v1/users/me', { token: member.session })).status).toBe(401);
  const calls = await waitFor(
    async () => {
      const { body } = await identity.call('GET', path, { token: session });
      return body.data?.length >= 3 && (body.data as (Call & { credential: object })[]);
    },
    { what: 'three refusals' },
  );
  expect(calls.map(brief)).toEqual([
    ['rest', 'GET /api/v1/users/me', 'denied', 'inactive', ''],
    ['rest', 'GET /api/v1/users/:id/sessions/:sessionId/calls', 'denied', 'role', ''],
    ['rest', 'GET /api/v1/service-accounts', 'denied', 'role', ''],
  ]);
  expect(calls[0]?.credential).toEqual({ kind: 'session', id: sessionId });
  const { rows } = await identity.db.query(`select from tool_call_agents where user_id = $1`, [member.id]);
  expect(rows).toEqual([]);
});

test('too many requests at the tool endpoint are recorded [AUD-25]', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const { legacy } = createCaller(identity, token.accessToken);
  const statuses = await Promise.all(Array.from({ length: 33 }, async () => (await legacy('ping')).status));
  expect(statuses).toContain(429);
  expect((await readCalls(`token/${token.id}`, 1)).map(brief)).toEqual([
    ['mcp', 'POST /mcp', 'denied', 'rate_limit', ''],
  ]);
});

test('the calls of a connected app are seen by its member and by administrators, through renewed tokens [AUD-26]', async () => {
  const { token } = await connect();
  await callTool(token, 'whoami');
  const challenged = await callTool(token, 'schedule_crawl');
  expect([challenged.status, challenged.text]).toEqual([403, expect.any(String)]);
  const { data } = (await identity.call('GET', '/api/v1/connected-apps', { token: session })).body;
  const { id } = data[0];
  const calls = await readCalls(`connection/${id}`, 2);
  expect(calls.map(brief)).toEqual([
    ['mcp', 'schedule_crawl', 'denied', 'scope', 'crawl:write'],
    ['mcp', 'whoami', 'completed', null, ''],
  ]);
  const { body: agent } = await read(`connection/${id}`);
  expect(agent).toMatchObject({
    kind: 'connection',
    name: 'Desk agent',
    state: 'active',
    isOwn: true,
    actsFor: { email: 'admin@example.com', role: 'admin', isServiceAccount: false },
    client: { id: clientId, kind: 'application', host: null },
    tools: ['whoami', 'list_connectors', 'get_crawl', 'list_crawls', 'crawl_stats'],
    firstCallAt: expect.any(String),
    refusals: [{ via: 'mcp', tool: 'schedule_crawl', reason: 'scope', lacks: ['crawl:write'], count: 1 }],
  });
  const other = await identity.createMember(session);
  const admin = await identity.createMember(session, 'admin');
  const elsewhere = await identity.createOrganisation('agents@example.org');
  expect((await readCalls(`connection/${id}`, 2, admin.session)).map(brief)).toEqual(calls.map(brief));
  for (const path of [`connection/${id}`, `connection/${id}/calls`])
    for (const by of [other.session, elsewhere.session]) expect((await read(path, by)).status).toBe(404);
  const mine = await readCalls('', 2);
  expect(mine.map(brief)).toEqual(expect.arrayContaining(calls.map(brief)));
  expect((await read('calls', other.session)).body.data).toEqual([]);
});

test('the page of a token names its family, its tools and whom it acts for, also to an administrator [AUD-26]', async () => {
  const owner = await identity.createMember(session);
  const parent = await identity.createToken(owner.session, {
    scopes: ['user:read', 'pat:read', 'pat:write'],
  });
  const child = await identity.createToken(parent.accessToken, { name: 'child', scopes: ['user:read'] });
  const rotated = await identity.call('POST', `/api/v1/personal-access-tokens/${child.id}/rotate`, {
    token: owner.session,
    body: {},
  });
  expect(rotated.status).toBe(201);
  for (const by of [owner.session, session]) {
    const { body } = await read(`token/${parent.id}`, by);
    expect(body).toMatchObject({
      kind: 'token',
      state: 'active',
      isOwn: by === owner.session,
      actsFor: { id: owner.id, email: owner.email, isServiceAccount: false },
      tools: ['whoami', 'list_my_tokens', 'rotate_my_token', 'revoke_my_token'],
      refusals: [],
    });
    expect(body.created.length).toBeGreaterThan(0);
  }
  const { body } = await read(`token/${child.id}`, owner.session);
  expect(body).toMatchObject({
    parent: { id: parent.id, name: 'test' },
    replacedBy: { id: rotated.body.token.id, state: 'active' },
  });
});

test('a service account has one page for all of its tokens, which administrators alone see [AUD-26]', async () => {
  const create = (path: string, body: object) => identity.call('POST', path, { token: session, body });
  const account = (await create('/api/v1/service-accounts', { name: 'Notes agent', role: 'member' })).body;
  const { id } = account.serviceAccount;
  const token = (
    await create(`/api/v1/service-accounts/${id}/tokens`, { name: 'a', scopes: ['user:read'] })
  ).body.token;
  await callTool(token.accessToken, 'crawl_stats');
  const calls = await readCalls(`service_account/${id}`, 1);
  expect(calls.map(brief)).toEqual([['mcp', 'crawl_stats', 'denied', expect.any(String), expect.any(String)]]);
  const { body } = await read(`service_account/${id}`);
  expect(body).toMatchObject({ name: 'Notes agent', state: 'active', isOwn: false, actsFor: { isServiceAccount: true, email: null } });
  const member = await identity.createMember(session);
  for (const path of [`service_account/${id}`, `token/${token.id}`]) expect((await read(path, member.session)).status).toBe(404);
  expect((await identity.call('GET', `/api/v1/agents/token/${token.id}`, { token: token.accessToken })).status).toBe(403);
}); // oxfmt-ignore
