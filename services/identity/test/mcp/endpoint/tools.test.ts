import { startIdentity } from '../../identity.js';
import { sendRaw } from '../../raw-http.js';
import { createCaller } from './endpoint.js';

/* Tools without other services; with broken ones: failing-services.test.ts, with real ones: packages/local/test/tools.test.ts. */

// No test calls these services.
const nowhere = 'http://127.0.0.1:1';
const identity = await startIdentity({ environment: { CRAWL_URL: nowhere, MAIL_URL: nowhere } });
const session = await identity.login();
afterAll(() => identity.close());

const namesFor = async (token: string, headers: Record<string, string> = {}, path = '/mcp') => {
  const { status, body } = await createCaller(identity, token).legacy('tools/list', undefined, headers, path);
  return status === 200
    ? (body.result.tools as { name: string }[]).map(({ name }) => name)
    : [status, body.error.message as string];
};
const callTool = async (name: string, args: object = {}, headers = {}, token = session) =>
  (await createCaller(identity, token).legacy('tools/call', { name, arguments: args }, headers)).body.result;

const readOnly = ['whoami', 'list_my_tokens', 'list_connectors', 'get_crawl', 'list_crawls', 'crawl_stats'];

test('a client can filter the tools, and cannot call the tools left out', async () => {
  for (const flag of ['true', '1', 'TRUE']) expect(await namesFor(session, { 'x-mcp-readonly': flag })).toEqual(readOnly);
  expect(await namesFor(session, {}, '/mcp?readonly=1')).toEqual(readOnly);
  expect(await namesFor(session, { 'x-mcp-readonly': 'false' }, '/mcp?readonly=true')).toEqual(readOnly);
  expect((await namesFor(session, { 'x-mcp-readonly': 'false' })).length).toBeGreaterThan(readOnly.length);
  const subset = { 'x-mcp-tools': 'whoami, pause_crawl,no_such_tool' };
  expect(await namesFor(session, subset)).toEqual(['whoami', 'pause_crawl']);
  expect(await namesFor(session, { ...subset, 'x-mcp-readonly': 'true' })).toEqual(['whoami']);
  expect(await namesFor(session, { 'x-mcp-tools': '' })).toEqual([]);
  const refused = await callTool('pause_crawl', { connector: 'db_1' }, { 'x-mcp-readonly': 'true' });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('narrowed') }] });
}); // oxfmt-ignore

test('rejects a flag that is neither true nor false, because it must not mean all tools', async () => {
  expect(await namesFor(session, { 'x-mcp-readonly': 'yes' })).toEqual([400, 'X-MCP-Readonly must be true or false']);
  expect(await namesFor(session, { 'x-mcp-readonly': '' })).toEqual([400, 'X-MCP-Readonly must be true or false']);
  for (const query of ['readonly=maybe', 'readonly=1&readonly=0'])
    expect(await namesFor(session, {}, `/mcp?${query}`)).toEqual([400, 'readonly must be true or false']);
  for (const query of ['readOnly=1', 'read_only=true', 'readonly=1&tools=whoami'])
    expect(await namesFor(session, {}, `/mcp?${query}`)).toEqual([400, 'The query can have readonly, and nothing else']);
}); // oxfmt-ignore

test('rejects a repeated list of tools, because it must not mean both', async () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const answer = await sendRaw(identity.url, [
    'POST /mcp HTTP/1.1', 'host: a', `authorization: Bearer ${session}`, 'content-type: application/json',
    'accept: application/json, text/event-stream', 'x-mcp-tools: whoami', 'X-MCP-Tools: pause_crawl',
    `content-length: ${body.length}`, 'connection: close', '', body,
  ].join('\r\n'));
  expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('Send one X-MCP-Tools header')]);
}); // oxfmt-ignore

test('a filter does not add tools that the credential lacks', async () => {
  const { accessToken } = await identity.createToken(session, { scopes: ['user:read'] });
  expect(await namesFor(accessToken, { 'x-mcp-tools': 'whoami,list_my_tokens,schedule_crawl' })).toEqual(['whoami']);
}); // oxfmt-ignore

test('send_email states exactly what a credential lacks: a token, the scope or the role', async () => {
  const { session: demoted, id } = await identity.createMember(session, 'admin');
  const granted = await identity.createToken(demoted, { scopes: ['SEND_MAIL'] });
  await identity.call('PATCH', `/api/v1/users/${id}`, { token: session, body: { role: 'member' } });
  const other = await identity.createToken(session, { scopes: ['user:read'] });
  for (const [token, lack] of [
    [other.accessToken, 'It lacks the scopes: SEND_MAIL.'],
    [granted.accessToken, 'Its owner is not an administrator.'],
    [session, 'It is a session: use a personal access token with the scopes: SEND_MAIL.'],
  ] as const) {
    const { content } = await callTool('send_email', {}, {}, token);
    expect(content[0].text).toBe(`This credential cannot call send_email. ${lack}`);
  }
});

test('the tools page through all own tokens and no others, newest first, and can revoke one', async () => {
  const { session: owner } = await identity.createMember(session);
  await identity.createToken((await identity.createMember(session)).session);
  const created = await Promise.all(Array.from({ length: 25 }, () => identity.createToken(owner)));
  const ids = created.map(({ id }) => id).toSorted().toReversed(); // oxfmt-ignore
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const args: object = { limit: 10, ...(cursor !== null && { cursor }) };
    const { structuredContent } = await callTool('list_my_tokens', args, {}, owner);
    seen.push(...structuredContent.tokens.map(({ id }: { id: string }) => id));
    cursor = structuredContent.nextCursor;
    // A token revoked between two pages hides no other.
    if (seen.length === 10)
      await identity.call('DELETE', `/api/v1/personal-access-tokens/${seen[9]}`, { token: owner });
  } while (cursor !== null);
  expect(seen).toEqual(ids);
  const revoked = await callTool('revoke_my_token', { tokenId: ids[0], reason: 'leaked' }, {}, owner);
  expect(revoked.structuredContent).toEqual({ message: 'Token revoked', revokedCount: 1 });
  const { structuredContent: first } = await callTool('list_my_tokens', {}, {}, owner);
  expect([first.tokens.length, first.tokens[0].id]).toEqual([20, ids[1]]);
  const again = await callTool('revoke_my_token', { tokenId: ids[0] }, {}, owner);
  expect(again).toMatchObject({ isError: true, content: [{ text: 'Token not found' }] });
});

test.each<[tool: string, args: object, fault: RegExp]>([
  ['whoami', { a: 1 }, /a is not a known field/],
  ['list_my_tokens', { limit: '5' }, /limit/],
  ['list_my_tokens', { cursor: 'x'.repeat(100_000) }, /cursor/],
  ['list_my_tokens', { cursor: '!' }, /cursor/],
  ['revoke_my_token', {}, /tokenId is required/],
  ['revoke_my_token', { tokenId: '../admin' }, /tokenId/],
])('%s names what is wrong with its arguments (%#)', async (tool, args, fault) => {
  const result = await callTool(tool, args);
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(fault) }] });
});

test('MCP-22 measures calls by the conventions of OpenTelemetry, and the name of an unknown tool makes no series', async () => {
  await callTool('whoami', {});
  await callTool('whoami', { a: 1 });
  await callTool('no_such_tool', {}).catch(() => undefined);
  const { text } = await identity.call('GET', '/metrics');
  const series = text
    .split('\n')
    .filter((line) => line.startsWith('mcp_server_operation_duration_seconds_count{'))
    .map((line) =>
      Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    );
  const common = {
    mcp_method_name: 'tools/call',
    gen_ai_operation_name: 'execute_tool',
    gen_ai_tool_name: 'whoami',
    network_transport: 'tcp',
  };
  expect(series).toContainEqual(expect.objectContaining({ ...common, error_type: '' }));
  expect(series).toContainEqual(expect.objectContaining({ ...common, error_type: 'tool_error' }));
  expect(text).not.toContain('no_such_tool');
});
