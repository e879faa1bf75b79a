import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startIdentity } from '../identity.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const path = '/api/v1/oauth-applications';
const create = (body: object, token = session) => identity.call('POST', path, { token, body });
const minimal = { name: 'x', grantTypes: ['client_credentials'], scopes: ['user:read'] };
const web = { name: 'x', grantTypes: ['authorization_code'], scopes: ['user:read'] };

test('OAUTH-2: applications are listed, read, changed and removed by administrators of their organisation', async () => {
  const { application } = await createApplication(identity, session, { name: 'Listed' });
  const { clientId } = application;
  const listed = await identity.call('GET', `${path}?limit=100`, { token: session });
  expect(listed.body.data.map((item: { clientId: string }) => item.clientId)).toContain(clientId);
  const changed = await identity.call('PATCH', `${path}/${clientId}`, {
    token: session,
    body: { name: 'Renamed' },
  });
  expect(changed.body.application).toMatchObject({ name: 'Renamed', serviceAccount: { name: 'Renamed' } });
  const other = await identity.createOrganisation('other-admin@example.com');
  for (const [method, body] of [['GET'], ['PATCH', { name: 'y' }], ['DELETE']] as const)
    expect(
      (await identity.call(method, `${path}/${clientId}`, { token: other.session, ...(body && { body }) }))
        .status,
    ).toBe(404);
  const member = await identity.createMember(session);
  expect((await create(minimal, member.session)).status).toBe(403);
  const { accessToken } = await identity.createToken(session);
  expect((await create(minimal, accessToken)).status).toBe(403);
  expect((await identity.call('DELETE', `${path}/${clientId}`, { token: session })).status).toBe(200);
  expect((await identity.call('GET', `${path}/${clientId}`, { token: session })).status).toBe(404);
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
  const { clientId } = (await create({ ...both, name: 'Findable 100%' })).body.application as {
    clientId: string;
  };
  await create(minimal);
  const find = async (list: string, q: string) => {
    const { body } = await identity.call('GET', `${list}?${new URLSearchParams({ q }).toString()}`, {
      token: session,
    });
    expect(body.pagination.total).toBe(body.data.length);
    return body.data.map((item: { clientId: string }) => item.clientId) as string[];
  };
  for (const q of ['findABLE', '100%', clientId.slice(3), 'desk.EXAMPLE.com/call'])
    expect([q, await find(path, q)]).toEqual([q, [clientId]]);
  for (const q of ['findABLE', clientId.slice(3)])
    expect([q, await find('/api/v1/service-accounts', q)]).toEqual([q, [clientId]]);
  for (const q of ['desk_example', 'nothing of it']) expect([q, await find(path, q)]).toEqual([q, []]);
});

test.each([
  ['no scopes', { ...minimal, scopes: undefined }],
  ['an unknown scope', { ...minimal, scopes: ['everything'] }],
  ['a scope of administrators for a service account that is none', { ...minimal, scopes: ['SEND_MAIL'] }],
  ['a public client with client_credentials', { ...minimal, authMethod: 'none' }],
  ['private_key_jwt without keys', { ...minimal, authMethod: 'private_key_jwt' }],
  [
    'a symmetric key',
    { ...minimal, authMethod: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'AA' }] } },
  ],
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
  async function createWithKey() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const { application } = await createApplication(identity, session, {
      authMethod: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] },
    });
    const { clientId } = application;
    const sign = (audience: string) =>
      new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey);
    const request = (assertion: string, headers: Record<string, string> = {}) =>
      identity.call('POST', '/oauth2/token', {
        raw: new URLSearchParams({
          grant_type: 'client_credentials',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    return { sign, request };
  }

  test.each([`${PUBLIC_URL}/oauth2`, `${PUBLIC_URL}/oauth2/token`])(
    'accepts the audience %s once',
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
    for (const audience of ['http://forged.example/oauth2/token', 'http://forged.example/token']) {
      const answer = await request(await sign(audience), {
        host: 'forged.example',
        'x-forwarded-host': 'forged.example',
      });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    }
  });
});

test('an application without an active secret cannot authenticate', async () => {
  const { application, clientSecret } = await createApplication(identity, session);
  const { clientId, secrets } = application;
  await identity.call('DELETE', `${path}/${clientId}/secrets/${secrets[0]?.id}`, { token: session });
  for (const secret of [clientSecret, '-']) {
    const { status } = await requestToken(identity, { clientId, clientSecret: secret });
    expect(status).toBe(401);
  }
});
