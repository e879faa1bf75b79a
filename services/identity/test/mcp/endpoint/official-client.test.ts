import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startIdentity } from '../../identity.js';

const clients: Client[] = [];

const identity = await startIdentity();
const session = await identity.login();
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await identity.close();
});

async function connect(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  clients.push(client);
  const transport = new StreamableHTTPClientTransport(new URL(`${identity.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport);
  return client;
}

const listNames = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test('a session and a token can initialise, list and call, and the text equals the structured content', async () => {
  const pat = await identity.createToken(session, { name: 'agent', scopes: ['user:read', 'pat:read'] });
  for (const [token, kind] of [
    [session, 'session'],
    [pat.accessToken, 'pat'],
  ] as const) {
    const client = await connect(token);
    expect(client.getServerVersion()).toMatchObject({ name: 'workspace-knowledge-platform' });
    expect((await listNames(client)).slice(0, 2)).toEqual(['whoami', 'list_my_tokens']);
    // The client checks the structured content against the output schema.
    const who = await client.callTool({ name: 'whoami', arguments: {} });
    expect(who).toMatchObject({
      structuredContent: {
        user: { email: 'admin@example.com', role: 'admin', orgId: identity.orgId },
        organisation: { id: identity.orgId, name: 'Example' },
        credential: { kind, scopes: kind === 'session' ? null : ['user:read', 'pat:read'] },
      },
    });
    const [content] = who.content as { text: string }[];
    expect(JSON.parse(content?.text ?? '')).toEqual(who.structuredContent);
    const list = await client.callTool({ name: 'list_my_tokens' });
    expect(list.structuredContent).toMatchObject({ tokens: [{ id: pat.id, name: 'agent' }] });
    expect(JSON.stringify(list)).not.toContain(pat.accessToken);
  }
});

test('every tool has a title, a description, object schemas for input and output, and all four hints', async () => {
  const { tools } = await (await connect(session)).listTools();
  for (const tool of tools)
    expect(tool).toMatchObject({
      title: expect.any(String),
      description: expect.stringMatching(/.{40}/),
      inputSchema: { type: 'object', additionalProperties: false },
      outputSchema: { type: 'object' },
      annotations: {
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      },
    });
});

test('lists the tools that the token can call, and denies the others by name', async () => {
  const reader = await identity.createToken(session, { scopes: ['user:read'] });
  const client = await connect(reader.accessToken);
  expect(await listNames(client)).toEqual(['whoami']);
  const refused = await client.callTool({ name: 'list_my_tokens', arguments: {} });
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('lacks the scopes: pat:read') }],
  });
  expect(refused).not.toHaveProperty('structuredContent');
  const none = await identity.createToken(session, { scopes: ['kb:read'] });
  expect(await listNames(await connect(none.accessToken))).toEqual([]);
});

test('responds to invalid arguments with a tool error that names them, and to an unknown tool with a protocol error', async () => {
  const client = await connect(session);
  expect(await client.callTool({ name: 'whoami', arguments: { verbose: true } })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('verbose') }],
  });
  await expect(client.callTool({ name: 'no_such_tool' })).rejects.toMatchObject({ code: -32_602 });
});

test('rejects the next call of a client whose token is revoked', async () => {
  const pat = await identity.createToken(session, { scopes: ['user:read'] });
  const client = await connect(pat.accessToken);
  await client.callTool({ name: 'whoami' });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${pat.id}`, { token: session });
  await expect(client.callTool({ name: 'whoami' })).rejects.toThrow(/401|Unauthorized|invalid/i);
});
