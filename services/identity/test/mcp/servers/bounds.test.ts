import { createAgent, useMounts } from './platform.js';
import { saveTool, searchTool, textResult } from './upstream.js';

/* Credentials that are limited to servers and tools of the tool endpoint. */

const SCOPES = ['kb:read', 'semantic:write', 'user:read', 'pat:read', 'pat:write', 'crawl:read'];

const platform = await useMounts();
const { identity, session, mounts } = platform;
const TOKENS = '/api/v1/personal-access-tokens';

let server: string;

const create = (bounds: object, token = session) =>
  identity.call('POST', TOKENS, { token, body: { name: 'bound', scopes: SCOPES, bounds } });
async function make(bounds: object, by?: string) {
  const { status, text, body } = await create(bounds, by);
  if (status !== 201) throw new Error(text);
  const { id, accessToken } = body.token as { id: string; accessToken: string };
  return { id, accessToken, agent: createAgent(identity, accessToken) };
}
const getBounds = async (id: string) =>
  (await identity.call('GET', `${TOKENS}/${id}`, { token: session })).body.token.bounds;
const listMounted = async (agent: ReturnType<typeof createAgent>) =>
  (await agent.listNames()).filter((name) => name.includes('__')).toSorted();
const toFault = (name: string) => `Unknown tool: ${name}`;

beforeEach(async () => {
  platform.upstream.tools = [searchTool, saveTool];
  platform.upstream.call = () => textResult('found');
  server = await mounts.mountInEffect(platform.upstream.url, { search: 'kb:read', save: 'semantic:write' });
});

test('MCP-45 a token sees and calls the tools of its servers alone, and those of the platform', async () => {
  const bound = await make({ servers: ['wiki'] });
  const none = await make({ servers: [] });
  expect(await listMounted(bound.agent)).toEqual(['wiki__save', 'wiki__search']);
  expect(await bound.agent.getText()).toBe('found');
  expect(await none.agent.listNames()).toContain('whoami');
  expect(await listMounted(none.agent)).toEqual([]);
  const unknown = await none.agent.call('wiki__nothing', {});
  const hidden = await none.agent.call('wiki__search', { query: 'a' });
  expect(hidden.error).toEqual({ ...unknown.error, message: toFault('wiki__search') });
  expect((await none.agent.callModern('wiki__search', { query: 'a' })).error.code).toBe(unknown.error.code);
  expect(platform.upstream.called()).toEqual(['search']);
});

test('MCP-45 a token sees and calls its tools alone, mounted ones and those of the platform', async () => {
  const bound = await make({ tools: ['whoami', 'wiki__search'] });
  expect((await bound.agent.listNames()).toSorted()).toEqual(['whoami', 'wiki__search']);
  expect(await bound.agent.getText()).toBe('found');
  for (const name of ['wiki__save', 'list_my_tokens'])
    expect((await bound.agent.call(name, {})).error.message).toBe(toFault(name));
  // Both lists must allow a tool.
  const both = await make({ tools: ['whoami', 'wiki__search'], servers: [] });
  expect(await both.agent.listNames()).toEqual(['whoami']);
  const nothing = await make({ tools: [] });
  expect(await nothing.agent.listNames()).toEqual([]);
  // Differently limited credentials of one organisation do not see one another's list.
  expect((await bound.agent.listNames()).toSorted()).toEqual(['whoami', 'wiki__search']);
});

test('MCP-45 each tool that the endpoint lists can be named', async () => {
  const all = await createAgent(identity, session).listNames();
  expect(all).toContain('wiki__search');
  const { id } = await make({ tools: all });
  expect(await getBounds(id)).toEqual({ tools: all });
});

test('MCP-36: bounds name a tool as the endpoint lists it', async () => {
  platform.upstream.tools = ['pages/search', 'pages/search/all'].map((name) => ({ ...searchTool, name }));
  await mounts.refresh(server);
  await mounts.approveAll(server, { 'pages/search': 'kb:read', 'pages/search/all': 'kb:read' });
  const [first = '', second = ''] = await listMounted(createAgent(identity, session));
  expect([first, second]).toEqual([
    expect.stringMatching(/^wiki__pages_search_all_x/),
    expect.stringMatching(/^wiki__pages_search_x/),
  ]);
  const bound = await make({ tools: [second] });
  expect(await listMounted(bound.agent)).toEqual([second]);
  expect((await bound.agent.call(first)).error.message).toBe(toFault(first));
  expect(await getBounds(bound.id)).toEqual({ tools: [second] });
});

test('MCP-46 a renamed server stays in the bounds, and one that has its name or is mounted again does not get into them', async () => {
  const bound = await make({ servers: ['wiki'], tools: ['wiki__search', 'whoami'] });
  expect((await mounts.call('PATCH', `/${server}`, { name: 'old' })).status).toBe(200);
  expect(await listMounted(bound.agent)).toEqual(['old__search']);
  expect(await getBounds(bound.id)).toEqual({ servers: ['old'], tools: ['old__search', 'whoami'] });
  await mounts.mountInEffect(platform.upstream.url, { search: 'kb:read', save: 'semantic:write' });
  expect(await listMounted(bound.agent)).toEqual(['old__search']);
  expect((await mounts.call('DELETE', `/${server}`)).status).toBe(200);
  expect(await listMounted(bound.agent)).toEqual([]);
  expect((await bound.agent.call('wiki__search', {})).error.message).toBe(toFault('wiki__search'));
  // What is left of the lists is narrower, never no list.
  expect(await getBounds(bound.id)).toEqual({ servers: [], tools: ['whoami'] });
  expect(await bound.agent.listNames()).toEqual(['whoami']);
});

test('MCP-46 a tool that its server no longer offers, or has changed, is out of reach', async () => {
  const bound = await make({ tools: ['wiki__search', 'wiki__save'] });
  platform.upstream.tools = [saveTool, { ...searchTool, description: 'Other' }];
  await mounts.refresh(server);
  expect(await listMounted(bound.agent)).toEqual(['wiki__save']);
});

test('PAT-56 unknown servers and tools are 400: of another organisation, and those that others alone can use', async () => {
  const foreign = await identity.createOrganisation(`bounds-${Date.now()}@example.com`);
  for (const [bounds, field, token] of [
    [{ servers: ['wiki', 'nothing'] }, 'bounds.servers.1', session],
    [{ tools: ['wiki__nothing'] }, 'bounds.tools.0', session],
    [{ tools: ['search'] }, 'bounds.tools.0', session],
    [{ servers: ['wiki'] }, 'bounds.servers.0', foreign.session],
    [{ tools: ['wiki__search'] }, 'bounds.tools.0', foreign.session],
  ] as const) {
    const { status, body } = await create(bounds, token);
    expect([bounds, status, body.error.details?.[0].field]).toEqual([bounds, 400, field]);
  }
  const member = await identity.createMember(session);
  expect((await create({ tools: ['wiki__search'] }, member.session)).status).toBe(201);
  await mounts.decide(server, [{ name: 'search', allowedGroups: [] }]);
  const { status, body } = await create({ tools: ['wiki__search'] }, member.session);
  expect([status, body.error.details]).toEqual([
    400,
    [{ field: 'bounds.tools.0', message: 'is not one of the remote tools' }],
  ]);
});

test('PAT-58 whoever makes a token learns what it can be limited to', async () => {
  const ask = async (token: string) =>
    (await identity.call('GET', `${TOKENS}/bounds`, { token })).body.bounds as Record<string, string[]>;
  const all = await ask(session);
  expect(all).toEqual({
    servers: ['wiki'],
    tools: expect.arrayContaining(['whoami', 'wiki__search', 'wiki__save']),
    connectors: expect.arrayContaining(['code_1', 'files_1']),
  });
  expect(all['connectors']).toHaveLength(18);
  const bound = await make({ servers: [], tools: ['wiki__save'], connectors: ['code_1'] });
  expect(await ask(bound.accessToken)).toEqual({
    servers: [],
    tools: ['wiki__save'],
    connectors: ['code_1'],
  });
  const account = await identity.call('POST', '/api/v1/service-accounts', {
    token: session,
    body: { name: 'Worker', role: 'admin' },
  });
  await mounts.decide(server, [{ name: 'search', allowedGroups: [] }]);
  expect((await ask(session))['tools']).not.toContain('wiki__search');
  const path = `/api/v1/service-accounts/${account.body.serviceAccount.id}/tokens/bounds`;
  expect((await identity.call('GET', path, { token: session })).body.bounds).toEqual(all);
});

test('PAT-57 a token creates tokens within its servers and tools', async () => {
  const parent = await make({ tools: ['wiki__search', 'whoami'] });
  expect((await create({ tools: ['wiki__save'] }, parent.accessToken)).status).toBe(400);
  const child = await make({ servers: ['wiki'] }, parent.accessToken);
  expect(await getBounds(child.id)).toEqual({ servers: ['wiki'], tools: ['wiki__search', 'whoami'] });
  const { rows } = await identity.db.query<{ detail: object }>(
    `select detail from audit_entries where action = 'token.created' and subject_id = $1`,
    [child.id],
  );
  expect(rows).toMatchObject([
    { detail: { bounds: '{"servers":["wiki"],"tools":["wiki__search","whoami"]}' } },
  ]);
});
