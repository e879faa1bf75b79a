import { saveTool, searchTool, textResult } from './upstream.js';
import { createAgent, useMounts } from './platform.js';

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const SCOPES = ['kb:read', 'semantic:write'];
const BOTH = ['wiki__save', 'wiki__search'];

const platform = await useMounts();
const { identity, session, mounts } = platform;

let server: string;
let group: string;
let count = 0;
/** A member of the group, and one who is not. */
let inside: Person;
let outside: Person;

interface Person {
  readonly id: string;
  readonly session: string;
  readonly agent: ReturnType<typeof createAgent>;
}

const groups = (method: string, path = '', body?: object) =>
  identity.call(method, `/api/v1/groups${path}`, { token: session, ...(body && { body }) });
async function createGroup(...members: string[]): Promise<string> {
  const id = (await groups('POST', '', { name: `Group ${++count}` })).body.group.id as string;
  if (members.length > 0) await groups('POST', `/${id}/members`, { members });
  return id;
}
const limit = (allowedGroups: readonly string[] | null) =>
  mounts.call('PATCH', `/${server}`, { allowedGroups: allowedGroups && [...allowedGroups] });
const limitTool = (name: string, allowedGroups: readonly string[] | null) =>
  mounts.decide(server, [{ name, allowedGroups }]);
async function createPerson(): Promise<Person> {
  const member = await identity.createMember(session);
  const { accessToken } = await identity.createToken(member.session, { scopes: SCOPES });
  return { id: member.id, session: member.session, agent: createAgent(identity, accessToken) };
}
const listMounted = async (agent: Person['agent']): Promise<string[]> =>
  (await agent.listNames()).filter((name) => name.includes('__')).toSorted();

beforeEach(async () => {
  platform.upstream.tools = [searchTool, saveTool];
  platform.upstream.call = () => textResult('found');
  server = await mounts.mountInEffect(platform.upstream.url, { search: 'kb:read', save: 'semantic:write' });
  [inside, outside] = [await createPerson(), await createPerson()];
  group = await createGroup(inside.id);
});

test('MCP-31 a server is for everybody, or for its groups: the same question of two people', async () => {
  for (const { agent } of [inside, outside]) expect(await listMounted(agent)).toEqual(BOTH);
  expect((await limit([group])).body.server.allowedGroups).toEqual([
    { id: group, name: expect.any(String), source: 'manual' },
  ]);
  expect(await inside.agent.getText()).toBe('found');
  expect(await listMounted(inside.agent)).toEqual(BOTH);
  expect(await listMounted(outside.agent)).toEqual([]);
  // The error is that of a tool that does not exist, in both eras and for sessions.
  const unknown = await outside.agent.call('wiki__nothing', { query: 'a' });
  const hidden = await outside.agent.call('wiki__search', { query: 'a' });
  expect(unknown.error.message).toBe('Unknown tool: wiki__nothing');
  expect(hidden.error).toEqual({ ...unknown.error, message: 'Unknown tool: wiki__search' });
  expect((await outside.agent.callModern('wiki__search', { query: 'a' })).error.code).toBe(
    unknown.error.code,
  );
  expect((await createAgent(identity, outside.session).call('wiki__search')).error).toEqual(hidden.error);
  expect(platform.upstream.called()).toEqual(['search']);
  await limit(null);
  expect(await listMounted(outside.agent)).toEqual(BOTH);
});

test('MCP-31 a tool has groups of its own, and both it and its server must allow the caller', async () => {
  expect((await limitTool('search', [group])).status).toBe(200);
  expect(await listMounted(inside.agent)).toEqual(BOTH);
  expect(await listMounted(outside.agent)).toEqual(['wiki__save']);
  const other = await createGroup(outside.id);
  await limit([other]);
  expect(await listMounted(inside.agent)).toEqual([]);
  expect(await listMounted(outside.agent)).toEqual(['wiki__save']);
  await limit([other, group]);
  expect(await listMounted(inside.agent)).toEqual(BOTH);
  await limitTool('search', []);
  expect(await listMounted(inside.agent)).toEqual(['wiki__save']);
});

test('MCP-31 administrators are subject to it too', async () => {
  await limit([group]);
  const { accessToken } = await identity.createToken(session, { scopes: SCOPES });
  expect(await listMounted(createAgent(identity, accessToken))).toEqual([]);
  expect(await listMounted(createAgent(identity, session))).toEqual([]);
});

test('MCP-31 a membership counts with the next call, also after the tool has left and come back', async () => {
  await limitTool('search', [group]);
  await groups('PUT', `/${group}/members/${outside.id}`);
  expect(await outside.agent.getText()).toBe('found');
  await groups('DELETE', `/${group}/members/${outside.id}`);
  expect((await outside.agent.call('wiki__search')).error.message).toBe('Unknown tool: wiki__search');
  platform.upstream.tools = [saveTool];
  await mounts.refresh(server);
  platform.upstream.tools = [searchTool, saveTool];
  await mounts.refresh(server);
  expect(await listMounted(outside.agent)).toEqual(['wiki__save']);
  expect(await listMounted(inside.agent)).toEqual(BOTH);
});

test('MCP-31 a tool that was limited before it was approved stays limited when the server offers it again', async () => {
  platform.upstream.tools = [searchTool, saveTool, { ...searchTool, name: 'extra' }];
  await mounts.refresh(server);
  expect((await limitTool('extra', [group])).status).toBe(200);
  platform.upstream.tools = [searchTool];
  await mounts.refresh(server);
  platform.upstream.tools = [searchTool, { ...searchTool, name: 'extra' }];
  await mounts.refresh(server);
  await mounts.approveAll(server, { extra: 'kb:read' });
  expect(await listMounted(inside.agent)).toContain('wiki__extra');
  expect(await listMounted(outside.agent)).not.toContain('wiki__extra');
});

test('MCP-31 an unknown group and one of another organisation are 404, and nothing changes', async () => {
  const { session: foreign } = await identity.createOrganisation(`access-${++count}@example.com`);
  const { body } = await identity.call('POST', '/api/v1/groups', {
    token: foreign,
    body: { name: 'Theirs' },
  });
  for (const id of [UNKNOWN_ID, body.group.id as string]) {
    expect((await limit([group, id])).status).toBe(404);
    expect((await limitTool('search', [id])).status).toBe(404);
    expect(
      (await mounts.call('POST', '', { name: 'other', url: platform.upstream.url, allowedGroups: [id] }))
        .status,
    ).toBe(404);
  }
  expect(await listMounted(outside.agent)).toEqual(BOTH);
});

test('GRP-8 a group names what is limited to it, beginning with what is limited to it alone', async () => {
  const other = await createGroup(inside.id);
  await limit([group, other]);
  await limitTool('search', [group]);
  const uses = async (id: string) => (await groups('GET', `/${id}/uses`)).body.data as object[];
  const own = { serverId: server, server: 'wiki' };
  expect(await uses(group)).toEqual([
    { ...own, tool: 'wiki__search', isOnly: true },
    { ...own, tool: null, isOnly: false },
  ]);
  expect(await uses(other)).toEqual([{ ...own, tool: null, isOnly: false }]);
  expect((await groups('GET', `/${UNKNOWN_ID}/uses`)).status).toBe(404);
});

test('MCP-32 removing the last group of a tool says what it closes, and closes it when forced', async () => {
  const other = await createGroup(inside.id);
  await limit([group, other]);
  await limitTool('search', [group]);
  const refused = await groups('DELETE', `/${group}`);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    409,
    'GROUP_IN_USE',
    [{ field: 'wiki__search', message: 'is limited to this group alone' }],
  ]);
  expect(await listMounted(inside.agent)).toEqual(BOTH);
  expect((await groups('DELETE', `/${group}?force=true`)).status).toBe(200);
  expect(await listMounted(inside.agent)).toEqual(['wiki__save']);
  expect(await listMounted(outside.agent)).toEqual([]);
  const search = (await mounts.call('GET', `/${server}/tools/search`)).body;
  expect(search.allowedGroups).toEqual([]);
  const { rows } = await identity.db.query<{ detail: object }>(
    `select detail from audit_entries where action = 'group.removed' and subject_id = $1`,
    [group],
  );
  expect(rows).toEqual([{ detail: { closed: 'wiki__search' } }]);
});

test('MCP-31 changes are in the audit with the names of the groups', async () => {
  await limit([group]);
  await limitTool('search', []);
  const { rows } = await identity.db.query<{ changes: object }>(
    `select changes from audit_entries where subject_id = $1 and changes::text like '%allowedGroups%' order by id`,
    [server],
  );
  expect(rows.map(({ changes }) => changes)).toEqual([
    { allowedGroups: { from: null, to: `Group ${count}` } },
    { 'search allowedGroups': { from: null, to: '' } },
  ]);
});

/*
 * The member leaves the group, and only then the group gets the tool; and the tool leaves the group before the member comes
 * into it. A call in between that took the one from before and the other from after would be let in, which was right at no time.
 */
test('MCP-31 a call sees the groups and the access of one moment, whatever changes meanwhile', async () => {
  await limit([]);
  const over = new AbortController();
  async function change(): Promise<void> {
    for (let round = 0; round < 15; round += 1) {
      await groups('PUT', `/${group}/members/${outside.id}`);
      await groups('DELETE', `/${group}/members/${outside.id}`);
      await limit([group]);
      await limit([]);
    }
    over.abort();
  }
  let calls = 0;
  async function call(): Promise<void> {
    while (!over.signal.aborted) {
      expect((await outside.agent.call('wiki__search', { query: 'a' })).error?.message).toBe(
        'Unknown tool: wiki__search',
      );
      calls += 1;
    }
  }
  await Promise.all([change(), call(), call(), call()]);
  expect(calls).toBeGreaterThan(15);
  expect(platform.upstream.called()).toEqual([]);
});
