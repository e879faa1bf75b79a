import { generateKeyPairSync, sign } from 'node:crypto';
import { startIdentity } from '../identity.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' };
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Requests a token with an assertion of private_key_jwt (RFC 7523). */
function requestByAssertion(clientId: string, claims: object) {
  const iat = Math.floor(Date.now() / 1_000);
  const payload = {
    iss: clientId,
    sub: clientId,
    aud: `${PUBLIC_URL}/oauth2`,
    iat,
    jti: `${Math.random()}`,
    ...claims,
  };
  const signed = `${encode({ alg: 'EdDSA', kid: 'k' })}.${encode(payload)}`;
  const parameters = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`,
  };
  return identity.call('POST', '/oauth2/token', {
    raw: new URLSearchParams(parameters).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}

const obtain = async (fields: object = {}) => {
  const { application, clientSecret } = await createApplication(identity, session, fields);
  const credentials = { clientId: application.clientId, clientSecret };
  const { body } = await requestToken(identity, credentials);
  return { credentials, token: body.access_token as string };
};
const change = (clientId: string, body: object) =>
  identity.call('PATCH', `/api/v1/oauth-applications/${clientId}`, { token: session, body });
const listUsers = async (token: string) => (await identity.call('GET', '/api/v1/users', { token })).status;

test('an application that loses a scope loses it in its existing tokens', async () => {
  const { credentials, token } = await obtain();
  expect(await listUsers(token)).toBe(200);
  await change(credentials.clientId, { scopes: ['crawl:read'] });
  expect(await listUsers(token)).toBe(403);
});

test('the tokens of a disabled application stay ended when it is enabled again', async () => {
  const { credentials, token } = await obtain();
  await change(credentials.clientId, { isDisabled: true });
  await change(credentials.clientId, { isDisabled: false });
  expect(await listUsers(token)).toBe(401);
  expect((await requestToken(identity, credentials)).status).toBe(200);
});

test.each([
  ['a NUL character', '\0'],
  ['a space', 'a b'],
  ['too many characters', 'a'.repeat(3_000)],
])('a client id with %s is an unknown client', async (_what, clientId) => {
  const answer = await requestToken(identity, { clientId: encodeURIComponent(clientId), clientSecret: 'x' });
  expect(answer.body.error).toMatch(/^invalid_(?:client|request)$/);
  const assertion = await requestByAssertion(clientId, { exp: Math.floor(Date.now() / 1_000) + 60 });
  expect([assertion.status, assertion.body.error]).toEqual([401, 'invalid_client']);
});

test('an assertion is accepted once, and only when it expires within ten minutes', async () => {
  const { application } = await createApplication(identity, session, {
    authMethod: 'private_key_jwt',
    jwks: { keys: [jwk] },
  });
  const now = Math.floor(Date.now() / 1_000);
  const claims = { exp: now + 60, jti: 'once' };
  expect((await requestByAssertion(application.clientId, claims)).status).toBe(200);
  expect((await requestByAssertion(application.clientId, claims)).status).toBe(401);
  for (const exp of [now + 3_600, 1e300])
    expect((await requestByAssertion(application.clientId, { exp })).status).toBe(401);
});

test.each([
  ['an incomplete key', { kty: 'EC' }],
  ['an unknown type', { kty: 'unknown', x: 'AA' }],
  ['a private key', privateKey.export({ format: 'jwk' })],
])('%s cannot be registered', async (_what, key) => {
  const body = {
    name: 'x',
    grantTypes: ['client_credentials'],
    scopes: ['crawl:read'],
    authMethod: 'private_key_jwt',
    jwks: { keys: [key] },
  };
  const { status } = await identity.call('POST', '/api/v1/oauth-applications', { token: session, body });
  expect(status).toBe(400);
});

test("OAUTH-4: a scope that the organisation's policy denies is lost by access tokens at once, and is in no new one", async () => {
  const { credentials, token } = await obtain();
  const putPolicy = (deniedScopes: string[]) =>
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
  expect(await listUsers(token)).toBe(200);
  expect((await putPolicy(['user:read'])).status).toBe(200);
  expect(await listUsers(token)).toBe(403);
  expect((await requestToken(identity, credentials)).body.scope).toBe('crawl:read');
  await putPolicy([]);
  expect(await listUsers(token)).toBe(200);
});

test('requests of one address to the token endpoint are limited', async () => {
  const limited = await startIdentity();
  try {
    const wrong = { clientId: 'nobody', clientSecret: 'x' };
    let { status } = await requestToken(limited, wrong);
    expect(status).toBe(401);
    // The allowance refills meanwhile, by ten each second.
    for (let count = 0; count < 10_000 && status !== 429; count += 1)
      ({ status } = await requestToken(limited, wrong));
    expect(status).toBe(429);
  } finally {
    await limited.close();
  }
});

test('a token that cannot be stored is not issued, and the client is told to retry', async () => {
  const { credentials } = await obtain();
  const lock = await identity.db.connect();
  try {
    await lock.query('begin');
    await lock.query('lock table oauth_access_tokens in share mode');
    const answer = await requestToken(identity, credentials);
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: 'temporarily_unavailable', error_description: expect.any(String) },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  } finally {
    await lock.query('rollback');
    lock.release();
  }
});

test('changes of an application and records of its use do not deadlock', async () => {
  const { credentials, token } = await obtain({ scopes: ['user:read'] });
  const uses = (async () => {
    for (let count = 0; count < 30; count += 1) await listUsers(token);
  })();
  for (let count = 0; count < 30; count += 1)
    expect((await change(credentials.clientId, { name: `Name ${count}` })).status).toBe(200);
  await uses;
});
