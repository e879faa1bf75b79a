import { randomUUID } from 'node:crypto';
import { createLogger, DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { createExpiryJob } from '../../../src/jobs/expiry.job.js';
import { insertToolCalls, type ToolCallRow } from '../../../src/mcp/activity/activity.sql.js';
import { createAgent, useMounts } from '../servers/platform.js';

const site = await useMounts();
const { identity, session, mounts } = site;
const BASE = '/api/v1/mcp-servers';
const HOUR_MS = DAY_MS / 24;

const get = async (path: string, token = session) => identity.call('GET', `${BASE}${path}`, { token });
const findTool = async (name: string, query = '') =>
  ((await get(`/tools/all?limit=100${query}`)).body.data as { name: string }[]).find(
    (tool) => tool.name === name,
  );
const at = (ms: number): string => encodeURIComponent(new Date(ms).toISOString());

const LAST_ID_DIGITS = 12;
/** Stores calls as the recorder does. Their ids are in the order of their times. */
async function storeCalls(calls: readonly Partial<ToolCallRow>[]): Promise<void> {
  await insertToolCalls(
    identity.db,
    calls.map((call) => {
      const { at: time = Date.now() } = call;
      const digits = time.toString(16).padStart(LAST_ID_DIGITS, '0');
      return {
        id: `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15, 18)}-8${randomUUID().slice(20)}`,
        at: time,
        org_id: identity.orgId,
        user_id: randomUUID(),
        credential_kind: 'pat',
        credential_id: randomUUID(),
        tool: 'wiki__search',
        outcome: 'completed',
        duration_ms: 10,
        request_id: 'r',
        client: null,
        client_id: null,
        via: 'mcp',
        reason: null,
        lacks: [],
        address: null,
        ...call,
      };
    }),
  );
}
const clear = () =>
  identity.db.query('delete from tool_calls; delete from tool_call_hours; delete from tool_call_agents');
afterEach(clear);

test('MCP-78 lists the tools of servers and of the platform: state, who may call them, and how often they are called', async () => {
  const group = (await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Support' } })).body.group as { id: string };
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, { allowedGroups: [group.id] });
  const other = randomUUID();
  await storeCalls([{}, { outcome: 'failed' }, { at: Date.now() - 6 * DAY_MS }, { at: Date.now() - 8 * DAY_MS }, { org_id: other }, { tool: 'whoami' }]);
  expect(await findTool('wiki__search')).toMatchObject({
    server: { id, name: 'wiki', isEnabled: true, allowedGroups: [{ id: group.id, name: 'Support' }] },
    mounted: { name: 'search', state: 'approved', isInEffect: true, allowedGroups: null },
    scopes: ['kb:read'],
    annotations: { readOnlyHint: true },
    calls: 3,
    failures: 1,
  });
  expect(await findTool('whoami')).toMatchObject({ server: null, mounted: null, scopes: ['user:read'], calls: 1, failures: 0 });
  expect(await findTool('wiki__save')).toMatchObject({ mounted: { state: 'new' }, scopes: [], calls: 0 });
  // Only what waits, and only what is looked for.
  const waiting = (await get('/tools/all?isWaiting=true')).body.data as { name: string }[];
  expect(waiting.map(({ name }) => name)).toEqual(expect.not.arrayContaining(['wiki__search', 'whoami']));
  expect(waiting.map(({ name }) => name)).toContain('wiki__save');
  expect((await get('/tools/all?q=KI__SEA')).body.data).toHaveLength(1);
  // Tools of servers page by page, then those of the platform.
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await get(`/tools/all?limit=1${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    names.push(...(body.data as { name: string }[]).map(({ name }) => name));
    cursor = body.nextCursor as string | null;
  }
  expect(names).toEqual(((await get('/tools/all?limit=100')).body.data as { name: string }[]).map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
  const member = (await identity.createMember(session)).session;
  expect((await get('/tools/all', member)).status).toBe(403);
}); // oxfmt-ignore

test('MCP-79 says who calls the tools of a server, how long that takes, and how it ends', async () => {
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  const member = await identity.createMember(session);
  const calls = Array.from({ length: 100 }, (_, index) => ({
    user_id: member.id,
    duration_ms: index + 1,
    outcome: index < 4 ? 'refused' : 'completed',
  }));
  await storeCalls([...calls, { tool: 'other__search' }, { org_id: randomUUID() }]);
  const { body } = await get(`/${id}/usage`);
  expect(body).toMatchObject({
    calls: 100,
    failures: 4,
    recent: {
      calls: 100,
      p50Ms: 50,
      p95Ms: 95,
      outcomes: [
        { outcome: 'completed', calls: 96 },
        { outcome: 'refused', calls: 4 },
      ],
      callers: [{ id: member.id, kind: 'member', calls: 100 }],
    },
  });
  expect((await get('/tools/wiki__search/usage')).body).toEqual({ ...body, since: expect.any(String) });
  expect((await get('/tools/whoami/usage')).body).toMatchObject({ calls: 0, recent: { calls: 0, p95Ms: null, since: null } });
  expect((await get('/tools/nothing/usage')).status).toBe(404);
  expect((await get(`/${randomUUID()}/usage`)).status).toBe(404);
  for (const path of [`/${id}/usage`, '/tools/wiki__search/usage'])
    expect((await get(path, member.session)).status).toBe(403);
}); // oxfmt-ignore

test('MCP-79 reads about a thousand of the newest calls, each tool by its share', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({
    tool: index % 3 === 0 ? 'wiki__save' : 'wiki__search',
    at: Date.now() - index * 1_000,
    duration_ms: index < 1_000 ? 1 : 1_000,
  }));
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  await storeCalls(many);
  const { body } = await get(`/${id}/usage`);
  expect(body).toMatchObject({ calls: 3_000, recent: { p95Ms: 1 } });
  expect(body.recent.calls).toBeGreaterThanOrEqual(1_000);
  expect(body.recent.calls).toBeLessThan(1_010);
  expect(body.recent.callers).toHaveLength(20);
});

test('MCP-80 counts the agents of today and the calls of each hour: one’s own, and for administrators all', async () => {
  const member = await identity.createMember(session);
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const own = { user_id: member.id, credential_id: randomUUID() };
  const app = { user_id: member.id, client_id: 'https://app.example.com/client.json' };
  await storeCalls([
    { ...own, at: today },
    { ...own, at: today, outcome: 'denied' },
    // The tokens of a connected app change, and it stays one agent.
    { ...app, at: today },
    { ...app, at: today },
    { at: today },
    { ...own, credential_kind: 'session', at: today },
    { ...own, at: today - HOUR_MS },
    { ...own, at: today - 8 * DAY_MS },
    { org_id: randomUUID(), at: today },
  ]);
  const query = `?from=${at(today - 6 * DAY_MS)}&today=${at(today)}`;
  const before = new Date(today - HOUR_MS).toISOString();
  const now = new Date(today).toISOString();
  expect((await get(`/tools/calls${query}`)).body).toEqual({
    agents: { agents: 3, calls: 5, failures: 1, isMinimum: false },
    hours: [
      { hour: before, calls: 1, failures: 0 },
      { hour: now, calls: 6, failures: 1 },
    ],
  });
  expect((await get(`/tools/calls${query}`, member.session)).body).toEqual({
    agents: { agents: 2, calls: 4, failures: 1, isMinimum: false },
    hours: [
      { hour: before, calls: 1, failures: 0 },
      { hour: now, calls: 4, failures: 1 },
    ],
  });
  // Nobody counts further back than seven days.
  const all = (await get(`/tools/calls?from=${at(0)}&today=${at(0)}`, member.session)).body;
  expect(all.agents.calls).toBe(5);
  expect((await get('/tools/calls?from=yesterday&today=now')).status).toBe(400);
  const { accessToken } = await identity.createToken(session, { scopes: ['kb:read'] });
  expect((await get(`/tools/calls${query}`, accessToken)).status).toBe(403);
});

test('MCP-81 a call is counted once with the statement that stores it, also when that is repeated', async () => {
  const { accessToken } = await identity.createToken(session, { scopes: ['user:read'] });
  await createAgent(identity, accessToken).call('whoami');
  await waitFor(async () => (await findTool('whoami') as { calls?: number } | undefined)?.calls === 1, { what: 'the count' });
  const { rows } = await identity.db.query<ToolCallRow>(
    'select *, (extract(epoch from created_at) * 1000)::bigint::float8 as at from tool_calls',
  );
  await insertToolCalls(identity.db, rows);
  expect(await findTool('whoami')).toMatchObject({ calls: 1 });
  // A name that somebody made up, and what was refused at a route, are no calls of a tool.
  await clear();
  await storeCalls([
    { tool: 'made_up', outcome: 'denied', reason: 'unknown_tool' },
    { tool: 'GET /api/v1/users', outcome: 'denied', reason: 'scope', via: 'rest' },
    { tool: 'reported', outcome: 'denied', reason: 'scope', via: 'rest' },
    { tool: 'POST /mcp', outcome: 'denied', reason: 'rate_limit' },
  ]);
  expect((await identity.db.query('select tool from tool_call_hours')).rows).toEqual([]);
  // As long as the calls are kept, and no longer.
  await clear();
  await storeCalls([{ at: Date.now() - 6.9 * DAY_MS }, { at: Date.now() - 7.1 * DAY_MS }]);
  const log = createLogger('test', 'silent');
  await createExpiryJob({ pool: identity.db, clock: Date.now, log, toolCallDays: 7, auditDays: 730 }).sweep();
  const { rows: kept } = await identity.db.query(
    'select (select count(*) from tool_call_hours)::int as hours, (select count(*) from tool_call_agents)::int as agents',
  );
  expect(kept).toEqual([{ hours: 2, agents: 1 }]);
}); // oxfmt-ignore
