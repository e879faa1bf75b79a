import { DAY_MS } from '@platform/service-kit';
import { INTROSPECTION_PATH, TOKEN_PATH } from '@platform/auth';
import { waitFor } from '@platform/testing';
import { type CreatedToken, type IdentityUnderTest, serviceClient, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startReplica } from '../replica.js';
import { startProbeService } from '../credentials/verification/probe-service.js';

const path = '/api/v1/personal-access-tokens';
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
});
afterAll(() => identity.close());

const make = (scopes: string[], owner = session) =>
  identity.createToken(owner, { scopes, expiryDays: 'never' });
const get = async (route: string, { accessToken }: CreatedToken) =>
  (await identity.call('GET', route, { token: accessToken })).status;
const details = async ({ id }: CreatedToken, token = session) =>
  (await identity.call('GET', `${path}/${id}`, { token })).body.token as {
    readonly usedScopes: string[];
    readonly lastUsedAt: string | null;
  };

const callTool = async (name: string, { accessToken }: CreatedToken) =>
  (await createCaller(identity, accessToken).legacy('tools/call', { name })).body.result;

/** Waits until everything that was used before has been written: a token that is used last is written with it. */
async function flushed(): Promise<void> {
  const marker = await make(['user:read']);
  expect(await get('/api/v1/users/me', marker)).toBe(200);
  await waitFor(async () => (await details(marker)).lastUsedAt !== null, {
    what: 'the next flush',
  });
}

test('PAT-34: every view of a token shows the scopes that its requests needed, and that it had', async () => {
  const token = await make(['user:read', 'pat:read', 'crawl:read']);
  expect((await details(token)).usedScopes).toEqual([]);
  expect(await get('/api/v1/users/me', token)).toBe(200);
  // It lacks this scope, and needs none to read itself.
  expect(await get('/api/v1/configurationManager/smtpConfig', token)).toBe(403);
  expect(await get(`${path}/self`, token)).toBe(200);
  await flushed();
  expect((await details(token)).usedScopes).toEqual(['user:read']);

  const find = async (route: string) => {
    const { body } = await identity.call('GET', route, { token: session });
    return (body.tokens ?? body.data).find(({ id }: { id: string }) => id === token.id).usedScopes as unknown;
  };
  for (const route of [path, `${path}/admin`, `${path}?state=active`, `${path}/admin?state=active`])
    expect([route, await find(route)]).toEqual([route, ['user:read']]);
  const itself = await identity.call('GET', `${path}/self`, { token: token.accessToken });
  expect(itself.body.token.usedScopes).toEqual(['user:read']);

  expect(await get(path, token)).toBe(200);
  await flushed();
  expect((await details(token)).usedScopes).toEqual(['user:read', 'pat:read']);
});

test('a scope that the owner has lost is not recorded as used', async () => {
  const { session: owner, id } = await identity.createMember(session, 'admin');
  const token = await make(['config:read', 'user:read'], owner);
  const body = { role: 'member' };
  expect((await identity.call('PATCH', `/api/v1/users/${id}`, { token: session, body })).status).toBe(200);
  expect(await get('/api/v1/configurationManager/smtpConfig', token)).toBe(403);
  expect(await get('/api/v1/users/me', token)).toBe(200);
  await flushed();
  expect((await details(token, owner)).usedScopes).toEqual(['user:read']);
});

test('another service reports the scopes of each request with its introspection, or none', async () => {
  const [used, asked] = [await make(['user:read', 'pat:read']), await make(['user:read'])];
  const probe = await startProbeService(identity.url);
  try {
    const statuses = [probe.whoami(used.accessToken), probe.readTokens(used.accessToken)].map(
      async (answer) => (await answer).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200]);
  } finally {
    await probe.close();
  }
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const granted = await identity.call('POST', TOKEN_PATH, {
    raw: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  const answer = await identity.call('POST', INTROSPECTION_PATH, {
    token: granted.body.access_token as string,
    body: { tokens: [asked.accessToken], clients: [{ userAgent: 'older replica' }] },
  });
  expect(answer.body.results).toEqual([expect.objectContaining({ active: true })]);
  await flushed();
  expect((await details(used)).usedScopes).toEqual(['user:read', 'pat:read']);
  expect(await details(asked)).toMatchObject({ usedScopes: [], lastUse: { userAgent: 'older replica' } });
});

test('a call of a remote tool uses its scopes unless it is refused, and list_my_tokens shows the others', async () => {
  const token = await make(['user:read', 'pat:read', 'kb:read']);
  expect((await callTool('rotate_my_token', token)).isError).toBe(true);
  expect((await callTool('list_my_tokens', token)).isError).toBeFalsy();
  await flushed();
  expect((await details(token)).usedScopes).toEqual(['pat:read']);
  const { tokens } = (await callTool('list_my_tokens', token)).structuredContent;
  const listed = tokens.find(({ id }: { id: string }) => id === token.id);
  expect(listed).toMatchObject({ state: 'active', parentId: null, unusedScopes: ['user:read', 'kb:read'] });
  expect(listed).not.toHaveProperty('usedScopes');
});

test('the uses at two replicas are merged, and no time moves back', async () => {
  const token = await make(['user:read', 'pat:read']);
  const replica = await startReplica(identity.databaseUrl);
  try {
    replica.advance(10 * DAY_MS);
    await replica.call('GET', '/api/v1/users/me', { token: token.accessToken });
  } finally {
    // Writes what it has recorded.
    await replica.close();
  }
  const { lastUsedAt } = await details(token);
  expect(await get('/api/v1/users/me', token)).toBe(200);
  expect(await get(path, token)).toBe(200);
  await flushed();
  expect(await details(token)).toMatchObject({ lastUsedAt, usedScopes: ['user:read', 'pat:read'] });
  const { rows } = await identity.db.query<{ days: Record<string, number> }>(
    'select scope_days as days from token_last_used where token_id = $1',
    [token.id],
  );
  const days = rows[0]?.days ?? {};
  expect((days['user:read'] ?? 0) - (days['pat:read'] ?? 0)).toBe(10);
});

test('a use counts for 30 days', async () => {
  const token = await make(['user:read', 'pat:read']);
  expect(await get('/api/v1/users/me', token)).toBe(200);
  identity.advance(29 * DAY_MS);
  session = await identity.login();
  expect(await get(path, token)).toBe(200);
  await flushed();
  expect((await details(token)).usedScopes).toEqual(['user:read', 'pat:read']);
  identity.advance(3 * DAY_MS);
  session = await identity.login();
  expect((await details(token)).usedScopes).toEqual(['pat:read']);
});
