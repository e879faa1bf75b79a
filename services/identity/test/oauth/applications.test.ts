import { randomUUID } from 'node:crypto';
import { createDecoder } from 'fast-jwt';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';
import { postForm } from './flow.js';

/* Applications, and the tokens that they get by themselves. */

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const decode = createDecoder();
const PATH = '/api/v1/oauth-applications';
const create = (body: object) => identity.call('POST', PATH, { token: session, body });
const change = (clientId: string, body: object) =>
  identity.call('PATCH', `${PATH}/${clientId}`, { token: session, body });
const listUsers = async (token: string): Promise<number> =>
  (await identity.call('GET', '/api/v1/users', { token })).status;

async function obtain(fields: object = {}, parameters: Record<string, string> = {}) {
  const { application, clientSecret } = await createApplication(identity, session, fields);
  const credentials = { clientId: application.clientId, clientSecret };
  const answer = await requestToken(identity, credentials, parameters);
  return { application, credentials, answer, token: answer.body.access_token as string };
}

/** Creates a personal access token that acts as the service account of an application. */
async function createAccountToken(accountId = ''): Promise<string> {
  const path = `/api/v1/service-accounts/${accountId}/tokens`;
  const body = { name: 'script', scopes: ['user:read'] };
  return (await identity.call('POST', path, { token: session, body })).body.token.accessToken as string;
}

const minimal = { name: 'x', grantTypes: ['client_credentials'], scopes: ['user:read'] };
const web = { name: 'x', grantTypes: ['authorization_code'], scopes: ['user:read'] };
const withKey = (key: object) => ({ ...minimal, authMethod: 'private_key_jwt', jwks: { keys: [key] } });

test('OAUTH-2: an administrator reads, changes and removes an application, which the audit records', async () => {
  const { clientId } = (await createApplication(identity, session)).application;
  const changed = await change(clientId, { name: 'Renamed' });
  expect(changed.body.application).toMatchObject({ name: 'Renamed', serviceAccount: { name: 'Renamed' } });
  const { body: listed } = await identity.call('GET', PATH, { token: session });
  expect(listed.data[0]).toMatchObject({ clientId, name: 'Renamed' });
  expect((await identity.call('DELETE', `${PATH}/${clientId}`, { token: session })).status).toBe(200);
  expect((await identity.call('GET', `${PATH}/${clientId}`, { token: session })).status).toBe(404);
  const { body } = await identity.call('GET', `/api/v1/audit?subjectId=${clientId}`, { token: session });
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
    'application.removed',
    'application.changed',
    'application.created',
  ]);
});

test('applications are found by name, client id and redirect address, service accounts by name and client id', async () => {
  const redirectUris = ['https://desk.example.com/callback'];
  const both = { ...minimal, grantTypes: ['authorization_code', 'client_credentials'], redirectUris };
  const { body } = await create({ ...both, name: 'Findable 100%' });
  const clientId = body.application.clientId as string;
  await create(minimal);
  const find = async (list: string, q: string) => {
    const query = new URLSearchParams({ q }).toString();
    const { data } = (await identity.call('GET', `${list}?${query}`, { token: session })).body;
    return data.map((item: { clientId: string }) => item.clientId) as string[];
  };
  for (const q of ['findABLE', '100%', clientId.slice(3), 'desk.EXAMPLE.com/call'])
    expect([q, await find(PATH, q)]).toEqual([q, [clientId]]);
  for (const q of ['findABLE', clientId.slice(3)])
    expect([q, await find('/api/v1/service-accounts', q)]).toEqual([q, [clientId]]);
  for (const q of ['desk_example', 'nothing of it']) expect([q, await find(PATH, q)]).toEqual([q, []]);
});

test.each([
  ['no scopes', { ...minimal, scopes: undefined }],
  ['an unknown scope', { ...minimal, scopes: ['everything'] }],
  ['a scope of administrators for a service account that is none', { ...minimal, scopes: ['SEND_MAIL'] }],
  ...['semantic:write', 'pat:read', 'pat:write', 'user:write'].map((scope): [string, object] => [
    `${scope}, which depends on a person (OAUTH-3)`,
    { ...minimal, scopes: [scope], role: 'admin' },
  ]),
  ['a public client with client_credentials', { ...minimal, authMethod: 'none' }],
  ['private_key_jwt without keys', { ...minimal, authMethod: 'private_key_jwt' }],
  ['a symmetric key', withKey({ kty: 'oct', k: 'AA' })],
  ['an incomplete key', withKey({ kty: 'EC' })],
  ['a key of an unknown type', withKey({ kty: 'unknown', x: 'AA' })],
  ['a private key', withKey({ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), d: 'A'.repeat(43) })],
  ['authorization_code without a redirect URI', web],
  ['a redirect URI without authorization_code', { ...minimal, redirectUris: ['https://app.example/cb'] }],
  ['a plain redirect URI to another machine', { ...web, redirectUris: ['http://app.example/cb'] }],
  ['a redirect URI with a fragment', { ...web, redirectUris: ['https://app.example/cb#x'] }],
  ['a redirect URI of a script', { ...web, redirectUris: ['javascript:alert(1)'] }],
  ['refresh_token alone', { ...minimal, grantTypes: ['refresh_token'] }],
])('rejects an application with %s', async (_what, body) => {
  expect((await create(body)).status).toBe(400);
});

describe('private_key_jwt', () => {
  const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const now = () => Math.floor(Date.now() / 1_000);

  async function createWithKey(id?: string) {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' };
    const { application } = await createApplication(identity, session, withKey(key));
    const clientId = id ?? application.clientId;
    const sign = (audience: string, expiresAt = now() + 60) =>
      new SignJWT({ iss: clientId, sub: clientId, aud: audience, jti: randomUUID(), exp: expiresAt })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuedAt()
        .sign(privateKey);
    const request = (assertion: string, headers: Record<string, string> = {}) =>
      postForm(
        identity,
        'token',
        { grant_type: 'client_credentials', client_assertion_type: jwtBearer, client_assertion: assertion },
        headers,
      );
    return { sign, request };
  }

  test.each([`${PUBLIC_URL}/oauth2`, `${PUBLIC_URL}/oauth2/token`])(
    'accepts the audience %s, and an assertion once',
    async (audience) => {
      const { sign, request } = await createWithKey();
      const assertion = await sign(audience);
      const answers = await Promise.all([request(assertion), request(assertion), request(assertion)]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
    },
  );

  test('an assertion for the host that the request names is refused', async () => {
    const { sign, request } = await createWithKey();
    const forged = { host: 'forged.example', 'x-forwarded-host': 'forged.example' };
    for (const audience of ['http://forged.example/oauth2/token', 'http://forged.example/token']) {
      const answer = await request(await sign(audience), forged);
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    }
  });

  test('an assertion that expires in more than ten minutes is refused', async () => {
    const { sign, request } = await createWithKey();
    for (const expiresAt of [now() + 3_600, 1e300])
      expect((await request(await sign(`${PUBLIC_URL}/oauth2`, expiresAt))).status).toBe(401);
  });

  test.each([
    ['a NUL character', '\0'],
    ['a space', 'a b'],
    ['too many characters', 'a'.repeat(3_000)],
  ])('a client id with %s is an unknown client', async (_what, clientId) => {
    const bySecret = { clientId: encodeURIComponent(clientId), clientSecret: 'x' };
    expect((await requestToken(identity, bySecret)).body.error).toMatch(/^invalid_(?:client|request)$/);
    const { sign, request } = await createWithKey(clientId);
    const answer = await request(await sign(`${PUBLIC_URL}/oauth2`));
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  });
});

test('OAUTH-3, OAUTH-4: an application gets a token for ten minutes with its scopes, which works as its service account', async () => {
  const { answer, application, token } = await obtain();
  expect([answer.status, answer.body]).toEqual([
    200,
    { access_token: token, token_type: 'Bearer', expires_in: 600, scope: 'crawl:read user:read' },
  ]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(decode(token)).toMatchObject({
    iss: 'workspace-platform',
    sub: application.serviceAccount?.id,
    org: identity.orgId,
    kind: 'oauth',
    client_id: application.clientId,
    aud: ['identity', 'mail', 'crawl'],
  });
  expect(await listUsers(token)).toBe(200);
});

test('OAUTH-3: a narrower scope and resource are granted as requested, and other scopes are left out', async () => {
  const resource = `${PUBLIC_URL}/api/v1/crawlingManager`;
  const { token, credentials } = await obtain({}, { scope: 'crawl:read', resource });
  expect(decode(token)).toMatchObject({ aud: ['crawl'], scope: 'crawl:read' });
  expect(await listUsers(token)).toBe(401);
  // Agents ask for the scopes that the challenge of the tools names.
  const more = { scope: 'crawl:read kb:read crawl:delete other' };
  const partly = await requestToken(identity, credentials, more);
  expect([partly.status, partly.body.scope]).toEqual([200, 'crawl:read']);
  expect(decode(partly.body.access_token as string)).toMatchObject({ scope: 'crawl:read' });
  for (const fields of [{ scope: 'kb:read' }, { scope: 'user:read', resource }, { scope: 'other' }]) {
    const none = await requestToken(identity, credentials, fields);
    expect([none.status, none.body.error]).toEqual([400, 'invalid_scope']);
  }
  const elsewhere = await requestToken(identity, credentials, { resource: 'https://elsewhere.example/mcp' });
  expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_target']);
});

test('applications that request tokens at the same moment each get their own, and a disabled one is refused', async () => {
  const scopes = [['user:read'], ['crawl:read'], ['crawl:read', 'user:read'], ['user:read']];
  const applications = await Promise.all(scopes.map((names) => obtain({ scopes: names })));
  const disabled = applications.pop();
  await change(disabled?.credentials.clientId ?? '', { isDisabled: true });
  const requests = Array.from({ length: 5 }, () => applications).flat();
  const tokens = requests.map(async ({ credentials, application }) => {
    const { body } = await requestToken(identity, credentials);
    const { client_id: clientId, sub, scope } = decode(body.access_token as string) as Record<string, string>;
    expect([clientId, sub]).toEqual([credentials.clientId, application.serviceAccount?.id]);
    expect(await listUsers(body.access_token as string)).toBe(scope?.includes('user') ? 200 : 403);
    return `${sub} ${scope}`;
  });
  const refused = disabled && (await requestToken(identity, disabled.credentials));
  expect([refused?.status, new Set(await Promise.all(tokens)).size]).toEqual([401, 3]);
});

test('only the SHA-256 of a token is stored, and the response is the same for a wrong secret and an unknown client', async () => {
  const { token, credentials } = await obtain();
  const { rows } = await identity.db.query('select * from oauth_access_tokens');
  expect(JSON.stringify(rows)).not.toContain(token.split('.')[2]);
  for (const wrong of [{ clientSecret: 'x'.repeat(43) }, { clientId: randomUUID() }]) {
    const answer = await requestToken(identity, { ...credentials, ...wrong });
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  }
});

test.each([
  ['disabled', 'PATCH', { isDisabled: true }],
  ['removed', 'DELETE', undefined],
])('a %s application and its tokens are refused at once', async (_what, method, body) => {
  const { token, credentials, application } = await obtain();
  const personal = await createAccountToken(application.serviceAccount?.id);
  for (const value of [token, personal]) expect(await listUsers(value)).toBe(200);
  const path = `${PATH}/${credentials.clientId}`;
  expect((await identity.call(method, path, { token: session, ...(body && { body }) })).status).toBe(200);
  for (const value of [token, personal]) expect(await listUsers(value)).toBe(401);
  expect((await requestToken(identity, credentials)).status).toBe(401);
  if (method === 'DELETE') return;
  await change(credentials.clientId, { isDisabled: false });
  // Its access tokens stay ended.
  expect([await listUsers(token), await listUsers(personal)]).toEqual([401, 200]);
  expect((await requestToken(identity, credentials)).status).toBe(200);
});

test.each([
  ['a demoted service account loses the scopes of administrators', { role: 'member' }],
  ['an application that loses a scope loses it', { scopes: ['crawl:read'] }],
])('OAUTH-4: %s in its existing tokens', async (_what, body) => {
  const { token, credentials } = await obtain();
  expect(await listUsers(token)).toBe(200);
  await change(credentials.clientId, body);
  expect(await listUsers(token)).toBe(403);
});

test("OAUTH-4: a scope that the organisation's policy denies is lost by access tokens at once, and is in no new one", async () => {
  const { credentials, token } = await obtain();
  const deny = (deniedScopes: string[]) =>
    identity.call('PUT', '/api/v1/organisation/token-policy', {
      token: session,
      body: {
        allowList: [],
        maxLifetimeDays: null,
        allowsNever: true,
        revokeFamilyOnReuse: false,
        deniedScopes,
        revokeUnusedDays: null,
      },
    });
  expect((await deny(['user:read'])).status).toBe(200);
  expect(await listUsers(token)).toBe(403);
  expect((await requestToken(identity, credentials)).body.scope).toBe('crawl:read');
  await deny([]);
  expect(await listUsers(token)).toBe(200);
});

test('whoami shows an agent that it acts for a service account', async () => {
  const { token, application } = await obtain({}, { resource: `${PUBLIC_URL}/mcp` });
  const call = { name: 'whoami', arguments: {} };
  const { body } = await createCaller(identity, token).legacy('tools/call', call);
  expect(body.result.structuredContent).toMatchObject({
    user: null,
    serviceAccount: { id: application.serviceAccount?.id, name: 'Nightly sync', role: 'admin' },
    credential: { kind: 'oauth', scopes: ['crawl:read', 'user:read'] },
  });
});

test('two secrets overlap; a revoked one is refused; each shows its last use', async () => {
  const { credentials, application } = await obtain();
  const base = `${PATH}/${credentials.clientId}`;
  const second = await identity.call('POST', `${base}/secrets`, { token: session });
  expect(second.status).toBe(201);
  const newer = { ...credentials, clientSecret: second.body.clientSecret as string };
  expect((await requestToken(identity, newer)).status).toBe(200);
  expect((await requestToken(identity, credentials)).status).toBe(200);
  expect((await identity.call('POST', `${base}/secrets`, { token: session })).status).toBe(409);
  const revoke = (id?: string) => identity.call('DELETE', `${base}/secrets/${id}`, { token: session });
  expect((await revoke(application.secrets[0]?.id)).status).toBe(200);
  expect((await requestToken(identity, credentials)).status).toBe(401);
  expect((await requestToken(identity, newer)).status).toBe(200);
  const { body } = await identity.call('GET', base, { token: session });
  expect(body.application.secrets).toEqual([
    { id: second.body.secret.id, createdAt: expect.any(String), lastUsedAt: expect.any(String) },
  ]);
  await revoke(second.body.secret.id as string);
  for (const clientSecret of [newer.clientSecret, '-'])
    expect((await requestToken(identity, { ...credentials, clientSecret })).status).toBe(401);
});

test('changes of an application and records of its use do not deadlock', async () => {
  const { credentials, token } = await obtain({ scopes: ['user:read'] });
  const uses = (async () => {
    for (let count = 0; count < 15; count += 1) await listUsers(token);
  })();
  for (let count = 0; count < 15; count += 1)
    expect((await change(credentials.clientId, { name: `Name ${count}` })).status).toBe(200);
  await uses;
});

test('OAUTH-4: a token ends after ten minutes, and its row is deleted', async () => {
  const { token } = await obtain();
  identity.advance(601_000);
  expect(await listUsers(token)).toBe(401);
  await identity.sweep();
  expect((await identity.db.query('select from oauth_access_tokens')).rowCount).toBe(0);
});

// It uses up what the address may request, so it is the last.
test('requests of one address to the authorization server are limited', async () => {
  // Refused before anything is looked up, and counted.
  const ask = () => identity.call('GET', `/oauth2/authorize?state=${'x'.repeat(2_049)}`);
  const statuses = new Set<number>();
  // The allowance refills meanwhile, by ten each second.
  for (let round = 0; round < 100 && !statuses.has(429); round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    for (const { status } of answers) statuses.add(status);
  }
  expect([...statuses]).toEqual([400, 429]);
});
