import { waitFor } from '@platform/testing';
import { createAgent, createMounts } from './platform.js';
import { saveTool, searchTool, startUpstream, textResult } from './upstream.js';
import { useMounts } from './use-mounts.js';

const site = useMounts();

test('a token with the default scopes lists and calls the tools that an administrator has mapped', async () => {
  await site.mounts.mountInEffect(site.upstream.url, { search: 'kb:read', save: 'semantic:write' });
  const { accessToken } = await site.identity.createToken(site.session);
  const agent = createAgent(site.identity, accessToken);
  expect(await agent.listNames()).toEqual(['whoami', 'wiki__save', 'wiki__search']);
  expect(await agent.listMounted()).toEqual([
    expect.objectContaining({ name: 'wiki__save', annotations: expect.objectContaining({ readOnlyHint: false }) }),
    { ...searchTool, name: 'wiki__search', annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true } },
  ]);
  const found = { content: [{ type: 'text', text: 'found cats' }] };
  expect((await agent.call('wiki__search', { query: 'cats' })).result).toEqual(found);
  expect((await agent.callModern('wiki__search', { query: 'cats' })).result).toMatchObject({ ...found, resultType: 'complete' });
  expect(site.upstream.called()).toEqual(['search', 'search']);
}); // prettier-ignore

test('a tool is hidden until it is approved and mapped, and from callers without its scope', async () => {
  const id = await site.mounts.mount(site.upstream.url);
  const agent = await site.createAgentWith('kb:read', 'semantic:write');
  // The job may have listed them meanwhile.
  expect((await site.mounts.call('POST', `/${id}/refresh`)).body.changes).toMatchObject({ changed: 0, withdrawn: 0 });
  expect(await agent.listNames()).toEqual([]);
  // Approved alone, mapped alone: neither is enough.
  const [save, search] = await site.mounts.listTools(id);
  expect((await site.mounts.decide(id, [{ name: 'save', approve: save?.hash }, { name: 'search', scope: 'kb:read' }])).status).toBe(200);
  expect(await agent.listNames()).toEqual([]);
  await site.mounts.decide(id, [{ name: 'save', scope: 'semantic:write' }, { name: 'search', approve: search?.hash }]);
  expect(await agent.listNames()).toEqual(['wiki__save', 'wiki__search']);
  const reader = await site.createAgentWith('kb:read', 'user:read');
  expect(await reader.listNames()).toEqual(['whoami', 'wiki__search']);
  expect((await reader.call('wiki__save')).result).toMatchObject({
    isError: true,
    content: [{ text: 'This credential cannot call wiki__save. It lacks the scopes: semantic:write.' }],
  });
  expect(await (await site.createAgentWith('user:read')).listNames()).toEqual(['whoami']);
  expect(site.upstream.called()).toEqual([]);
  // Hiding it works at once.
  await site.mounts.decide(id, [{ name: 'search', scope: 'none' }]);
  expect(await reader.listNames()).toEqual(['whoami']);
  expect((await reader.call('wiki__search', { query: 'a' })).error).toMatchObject({ code: -32_602 });
}); // prettier-ignore

test('rules map tools by name, an explicit mapping wins, and read-only filters follow the mapping', async () => {
  site.upstream.tools = ['wiki_search', 'mail_search', 'other'].map((name) => ({ ...saveTool, name }));
  const id = await site.mounts.mount(site.upstream.url, {
    rules: [{ pattern: '*_search', scope: 'kb:read' }],
  });
  await site.mounts.call('POST', `/${id}/refresh`);
  await site.mounts.approveAll(id, { wiki_search: null, mail_search: 'semantic:write', other: null });
  const agent = await site.createAgentWith('kb:read', 'semantic:write');
  expect(await agent.listNames()).toEqual(['wiki__mail_search', 'wiki__wiki_search']);
  expect(await agent.listNames({ 'x-mcp-readonly': 'true' })).toEqual(['wiki__wiki_search']);
  expect(await agent.listNames({ 'x-mcp-tools': 'wiki__mail_search' })).toEqual(['wiki__mail_search']);
  expect(await agent.listNames({ 'x-mcp-tools': 'wiki__*' })).toEqual(await agent.listNames());
  expect(await agent.listNames({ 'x-mcp-tools': 'wiki__mail*, wik*, *, mail__*' })).toEqual([]);
  const narrowed = { 'x-mcp-readonly': '1', 'x-mcp-tools': 'wiki__*' };
  expect(await agent.listNames(narrowed)).toEqual(['wiki__wiki_search']);
  await site.mounts.call('PATCH', `/${id}`, { rules: [{ pattern: 'o*', scope: 'kb:read' }] });
  expect(await agent.listNames()).toEqual(['wiki__mail_search', 'wiki__other']);
  await site.mounts.call('PATCH', `/${id}`, { isEnabled: false });
  expect(await agent.listNames()).toEqual([]);
});

test('a server that supports only the newest revision can be used, also over a new connection', async () => {
  const modern = await startUpstream({ isModernOnly: true });
  try {
    const id = await site.mounts.mountInEffect(modern.url, { search: 'kb:read' });
    expect((await site.mounts.call('GET', `/${id}`)).body.server.protocolVersion).toBe('2026-07-28');
    const agent = await site.createAgentWith('kb:read');
    expect((await agent.call('wiki__search', { query: 'a' })).result.content[0].text).toBe('found a');
    expect((await agent.callModern('wiki__search', { query: 'b' })).result.content[0].text).toBe('found b');
    expect(modern.received.some(({ message }) => message.method === 'initialize')).toBe(false);
  } finally {
    await modern.close();
  }
});

test('names are unique, at most 64 characters with the tool, and free of what clients reject', async () => {
  site.upstream.tools = [
    { ...searchTool, name: 'a'.repeat(60) },
    { ...searchTool, name: 'a/b' },
  ];
  const id = await site.mounts.mount(site.upstream.url);
  expect((await site.mounts.call('POST', '', { name: 'wiki', url: site.upstream.url })).status).toBe(409);
  for (const name of ['wiki__a', 'Wiki', 'wiki_', '', 'a'.repeat(33)])
    expect((await site.mounts.call('POST', '', { name, url: site.upstream.url })).status).toBe(400);
  await site.mounts.call('POST', `/${id}/refresh`);
  for (const { name, hash } of await site.mounts.listTools(id)) {
    const refused = await site.mounts.decide(id, [{ name, scope: 'kb:read', approve: hash }]);
    expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'tools']);
  }
  // By a rule it stays hidden.
  await site.mounts.call('PATCH', `/${id}`, { rules: [{ pattern: '*', scope: 'kb:read' }] });
  expect((await site.mounts.approveAll(id, { ['a'.repeat(60)]: null, 'a/b': null })).status).toBe(200);
  expect(await (await site.createAgentWith('kb:read')).listNames()).toEqual([]);
});

test('rejects a new name of a server that would disable a mapped tool', async () => {
  const long = 'a'.repeat(50);
  site.upstream.tools = [{ ...searchTool, name: long }, saveTool];
  const id = await site.mounts.mountInEffect(site.upstream.url, { [long]: 'kb:read' });
  const refused = await site.mounts.call('PATCH', `/${id}`, { name: 'knowledge-base' });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'name']);
  const agent = await site.createAgentWith('kb:read');
  expect(await agent.listNames()).toEqual([`wiki__${long}`]);
  await site.mounts.decide(id, [{ name: long, scope: 'none' }]);
  expect((await site.mounts.call('PATCH', `/${id}`, { name: 'knowledge-base' })).status).toBe(200);
});

test('another organisation sees neither a server nor its tools', async () => {
  const id = await site.mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  const { session: other } = await site.identity.createOrganisation(`other-${Date.now()}@example.com`);
  const theirs = createMounts(site.identity, other);
  expect((await theirs.call('GET')).body.data).toEqual([]);
  for (const [method, path] of [['GET', ''], ['PATCH', ''], ['DELETE', ''], ['POST', '/refresh'], ['POST', '/test'], ['GET', '/tools'], ['GET', '/tools/search']] as const)
    expect([path, (await theirs.call(method, `/${id}${path}`, method === 'PATCH' ? { isEnabled: false } : undefined)).status]).toEqual([path, 404]);
  expect((await theirs.decide(id, [{ name: 'search', scope: 'none' }])).status).toBe(404);
  expect((await createAgent(site.identity, other).listNames()).filter((name) => name.includes('__'))).toEqual([]);
  expect((await createAgent(site.identity, other).call('wiki__search')).error).toMatchObject({ code: -32_602 });
}); // prettier-ignore

test('the audit records servers, decisions and offered tools, and the activity of a token its calls', async () => {
  const id = await site.mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  site.upstream.call = () => ({ ...textResult('no such page'), isError: true });
  const token = await site.identity.createToken(site.session, { scopes: ['kb:read', 'pat:read'] });
  const agent = createAgent(site.identity, token.accessToken);
  expect((await agent.call('wiki__search', { query: 'a' })).result).toEqual({ content: [{ type: 'text', text: 'no such page' }], isError: true });
  await site.mounts.call('DELETE', `/${id}`);
  const { body } = await site.identity.call('GET', `/api/v1/audit?subjectId=${id}`, { token: site.session });
  const entries = body.data as { action: string; changes: object; detail: object }[];
  expect(entries.map(({ action }) => action)).toEqual([
    'mcp_server.removed', 'mcp_server.tools_changed', 'mcp_server.tools_offered', 'mcp_server.created',
  ]);
  expect(entries[1]).toMatchObject({ detail: { server: 'wiki' }, changes: { 'search scope': { from: null, to: 'kb:read' } } });
  expect(entries[2]).toMatchObject({ detail: { server: 'wiki', new: '2', changed: '0', withdrawn: '0' } });
  const activity = await waitFor(async () => {
    const found = await site.identity.call('GET', `/api/v1/personal-access-tokens/${token.id}/activity`, { token: site.session });
    return found.body.data.length > 0 ? found.body.data : undefined;
  }, { what: 'the call in the activity' });
  expect(activity).toEqual([expect.objectContaining({ tool: 'wiki__search', outcome: 'refused' })]);
  const { text } = await site.identity.call('GET', '/metrics');
  const counted = text.split('\n').filter((line) => line.startsWith('mcp_server_call_duration_seconds_count'));
  expect(counted.some((line) => /server="[0-9a-f-]{36}",outcome="refused"/.test(line))).toBe(true);
}); // prettier-ignore

test('servers and tools are paged by cursor', async () => {
  const ids = [];
  for (const name of ['a', 'b', 'c']) ids.unshift(await site.mounts.mount(site.upstream.url, { name }));
  const first = (await site.mounts.call('GET', '?limit=2')).body;
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  const second = (await site.mounts.call('GET', `?limit=2&cursor=${first.nextCursor}`)).body;
  expect([second.data.map(({ id }: { id: string }) => id), second.nextCursor]).toEqual([ids.slice(2), null]);
  await site.mounts.call('POST', `/${ids[0]}/refresh`);
  const tools = (await site.mounts.call('GET', `/${ids[0]}/tools?limit=1`)).body;
  expect([tools.data[0].name, tools.nextCursor]).toEqual(['save', 'save']);
  const rest = (await site.mounts.call('GET', `/${ids[0]}/tools?limit=1&cursor=save`)).body;
  expect([rest.data[0].name, rest.nextCursor]).toEqual(['search', null]);
});
