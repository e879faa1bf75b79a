import { waitFor } from '@platform/testing';
import { useMounts } from './platform.js';
import { textResult } from './upstream.js';

/* MCP-75, MCP-76: the tool endpoint as the console has it, for members with a session. */

const site = await useMounts();
const { identity, session, mounts } = site;
const BASE = '/api/v1/mcp-servers/tools';
const ask = (token: string, tool: string, body: object = { arguments: { query: 'a' } }) =>
  identity.call('POST', `${BASE}/${tool}/call`, { token, body });
const listNames = async (token: string): Promise<string[]> =>
  ((await identity.call('GET', BASE, { token })).body.data as { name: string }[]).map(({ name }) => name);
const pickMounted = (names: readonly string[]) => names.filter((name) => name.includes('__'));

test('MCP-75 lists what an agent of the member sees, with the form of its arguments, and the connectors that it answers from', async () => {
  const id = await mounts.mountInEffect(
    site.upstream.url,
    { search: 'kb:read' },
    { connectors: ['files_1'] },
  );
  const member = (await identity.createMember(session)).session;
  const { data } = (await identity.call('GET', BASE, { token: member })).body as { data: { name: string }[] };
  expect(data.find(({ name }) => name === 'wiki__search')).toMatchObject({
    server: 'wiki',
    connectors: ['files_1'],
    scopes: ['kb:read'],
    annotations: { readOnlyHint: true },
    inputSchema: { type: 'object' },
  });
  expect(data.find(({ name }) => name === 'whoami')).toMatchObject({ server: null, connectors: [] });
  // A session cannot call it, so it is not among them.
  expect(data.some(({ name }) => name === 'rotate_my_token')).toBe(false);
  await mounts.decide(id, [{ name: 'search', allowedGroups: [] }]);
  expect([pickMounted(await listNames(member)), pickMounted(await listNames(session))]).toEqual([[], []]);
});

test('MCP-76 a call in the console reaches the server as the member, is recorded, and answers as an agent is answered', async () => {
  const fields = { connectors: ['files_1'], credential: { kind: 'assertion', claims: ['email'] } };
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, fields);
  const { session: member, id: memberId, email } = await identity.createMember(session);
  site.upstream.call = () => textResult('The handbook');
  const { status, body } = await ask(member, 'wiki__search');
  expect([status, body]).toEqual([
    200,
    {
      isError: false,
      content: [{ type: 'text', text: 'The handbook' }, { type: 'text', text: 'files_1 has not been crawled yet.' }],
      link: null,
    },
  ]);
  const received = site.upstream.received.findLast(({ message }) => message.method === 'tools/call');
  const [, claims = ''] = (received?.headers.authorization ?? '').split('.');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: memberId, email });
  await expectRecorded(memberId);
  // Whoever may not find the tool is told that there is none, administrators as well.
  await mounts.decide(id, [{ name: 'search', allowedGroups: [] }]);
  for (const token of [member, session]) expect((await ask(token, 'wiki__search')).status).toBe(404);
}); // oxfmt-ignore

async function expectRecorded(userId: string): Promise<void> {
  const record = await waitFor(
    async () =>
      (
        await identity.db.query<object>(
          `select tool, outcome, client, credential_kind from tool_calls where user_id = $1`,
          [userId],
        )
      ).rows[0],
    { what: 'the record of the call' },
  );
  const recorded = {
    tool: 'wiki__search',
    outcome: 'completed',
    client: 'Console',
    credential_kind: 'session',
  };
  expect(record).toEqual(recorded);
}

test('MCP-76 the platform’s own tools answer as well, errors are results, and tokens use /mcp', async () => {
  expect((await ask(session, 'whoami', {})).body).toMatchObject({
    isError: false,
    structuredContent: { user: { role: 'admin' } },
  });
  expect((await ask(session, 'whoami', { arguments: { a: 1 } })).body).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Invalid arguments') }],
  });
  const member = (await identity.createMember(session)).session;
  expect((await ask(member, 'rotate_my_token', {})).body).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('It is a session') }],
  });
  expect((await ask(member, 'whoami', { arguments: [] })).status).toBe(400);
  expect((await ask(member, 'nothing', {})).status).toBe(404);
  const { accessToken } = await identity.createToken(session, { scopes: ['kb:read'] });
  expect((await ask(accessToken, 'whoami', {})).status).toBe(403);
  expect((await identity.call('GET', BASE, { token: accessToken })).status).toBe(403);
});
