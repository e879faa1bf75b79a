import pg from 'pg';
import { serviceClient, startIdentity } from '../../identity.js';

const tokenPath = '/api/v1/oauth2/token';
const path = '/api/v1/oauth2/introspect';
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
/** A secret with characters that form encoding changes. */
const oddClient = { id: 'odd', secret: `${'s'.repeat(32)}+/==` };

const clients = [serviceClient, oddClient].map(({ id, secret }) => `${id}:${secret}`);
const identity = await startIdentity({
  environment: { SERVICE_CLIENTS: clients.join(','), CONFIG_CLIENT_ID: oddClient.id },
});
const session = await identity.login();
afterAll(() => identity.close());

const issue = (id: string, secret: string, raw = 'grant_type=client_credentials') =>
  identity.call('POST', tokenPath, {
    raw,
    headers: { ...formType, authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
  });
const service = (await issue(serviceClient.id, serviceClient.secret)).body.access_token as string;
const askMany = (tokens: unknown, as = service) =>
  identity.call('POST', path, { token: as, body: { tokens } });
/** Asks about one token. */
async function ask(token: string, as = service) {
  const answer = await askMany([token], as);
  return { ...answer, body: answer.status === 200 ? answer.body.results[0] : answer.body };
}

test('issues a credential of five minutes to a client with the right secret, in the format of RFC 6749', async () => {
  const { status, headers, body } = await issue(serviceClient.id, serviceClient.secret);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 300,
    scope: 'token:introspect facts:crawl',
  });
});

test('rejects a wrong secret, an unknown client and a missing client with 401 invalid_client and a challenge', async () => {
  const answers = [
    await issue(serviceClient.id, `${serviceClient.secret}x`),
    await issue('nobody', serviceClient.secret),
    await issue('', ''),
    await issue('%', serviceClient.secret),
    await identity.call('POST', tokenPath, { raw: 'grant_type=client_credentials', headers: formType }),
  ];
  for (const { status, headers, body } of answers) {
    expect([status, body]).toEqual([401, { error: 'invalid_client', error_description: expect.any(String) }]);
    expect(headers.get('www-authenticate')).toBe('Basic realm="platform", charset="UTF-8"');
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  }
});

test.each([
  ['grant_type=password', 'unsupported_grant_type'],
  ['', 'invalid_request'],
  ['grant_type=client_credentials&grant_type=client_credentials', 'invalid_request'],
  ['grant_type=client_credentials&scope=FETCH_CONFIG', 'invalid_scope'],
  ['grant_type=client_credentials&scope=token:introspect+x', 'invalid_scope'],
])('rejects the token request %j with %s', async (raw, error) => {
  const { status, body, headers } = await issue(serviceClient.id, serviceClient.secret, raw);
  expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
  expect(headers.get('cache-control')).toBe('no-store');
});

test('accepts a token request with a scope, with an empty scope, and with unknown parameters', async () => {
  const all = 'token:introspect facts:crawl';
  for (const [more, granted] of [
    ['scope=token:introspect', 'token:introspect'],
    ['scope=', all],
    ['audience=x', all],
  ]) {
    const raw = `grant_type=client_credentials&${more}`;
    const { status, body } = await issue(serviceClient.id, serviceClient.secret, raw);
    expect([status, body.scope]).toEqual([200, granted]);
  }
});

test('accepts client credentials form-encoded by RFC 6749 section 2.3.1, or unencoded as many clients send them', async () => {
  const encode = (text: string) => text.replaceAll(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  expect((await issue(encode(oddClient.id), encode(oddClient.secret))).status).toBe(200);
  const { status, body } = await issue(oddClient.id, oddClient.secret);
  // It is the client of CONFIG_CLIENT_ID; the other one is that of CRAWL_CLIENT_ID.
  expect([status, body.scope]).toEqual([200, 'token:introspect FETCH_CONFIG facts:mail']);
  expect((await issue(oddClient.id, encode(`${oddClient.secret}x`))).status).toBe(401);
});

test('describes a live token and a live session as RFC 7662 specifies', async () => {
  const pat = await identity.createToken(session, { scopes: ['user:read', 'config:read'] });
  const { user } = (await identity.call('GET', '/api/v1/users/me', { token: session })).body;
  const expected = {
    active: true,
    sub: user.id,
    org: identity.orgId,
    role: 'admin',
    username: user.email,
    name: user.fullName,
    token_type: 'Bearer',
  };
  for (const presented of [pat.accessToken, pat.accessToken.slice(4)]) {
    const { status, headers, body } = await ask(presented);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const exp = Date.parse(pat.expiresAt ?? '') / 1_000;
    expect(body).toEqual({ ...expected, jti: pat.id, kind: 'pat', scope: 'user:read config:read', exp });
  }
  const { body } = await ask(session);
  expect(body).toEqual({
    ...expected,
    jti: expect.any(String),
    kind: 'session',
    scope: '',
    exp: expect.any(Number),
  });
  const never = await identity.createToken(session, { expiryDays: 'never' });
  expect((await ask(never.accessToken)).body).not.toHaveProperty('exp');
});

test('omits scopes that the owner has lost', async () => {
  const other = await identity.createMember(session, 'admin');
  const pat = await identity.createToken(other.session, { scopes: ['user:read', 'config:read'] });
  await identity.call('PATCH', `/api/v1/users/${other.id}`, { token: session, body: { role: 'member' } });
  expect((await ask(pat.accessToken)).body).toMatchObject({ role: 'member', scope: 'user:read' });
});

test('responds with nothing but inactive for garbage, a revoked token, an ended session and a removed owner', async () => {
  const member = await identity.createMember(session);
  const [revoked, orphan] = [await identity.createToken(session), await identity.createToken(member.session)];
  const ended = await identity.login();
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${revoked.id}`, { token: session });
  await identity.call('POST', '/api/v1/auth/logout', { token: ended });
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  const dead = ['x', 'a.b.c', revoked.accessToken, ended, orphan.accessToken, member.session];
  for (const token of dead) {
    const { status, body } = await ask(token);
    expect([status, body]).toEqual([200, { active: false }]);
  }
  const { body } = await askMany([...dead, session]);
  expect(body.results.map(({ active }: { active: boolean }) => active)).toEqual([
    ...dead.map(() => false),
    true,
  ]);
});

test('describes a service credential by its client and scopes, and a credential that was only signed as inactive', async () => {
  const { status, body } = await ask(service);
  expect([status, body]).toEqual([
    200,
    {
      active: true,
      sub: serviceClient.id,
      client_id: serviceClient.id,
      kind: 'service',
      token_type: 'Bearer',
      scope: 'token:introspect facts:crawl',
    },
  ]);
  const other = (await issue(serviceClient.id, serviceClient.secret)).body.access_token as string;
  const { jti } = JSON.parse(Buffer.from(other.split('.')[1] ?? '', 'base64url').toString()) as {
    jti: string;
  };
  expect((await ask(other)).body.active).toBe(true);
  await identity.db.query('delete from service_credentials where id = $1', [jti]);
  expect((await ask(other)).body).toEqual({ active: false });
  const refused = await askMany([session], other);
  expect([refused.status, refused.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
});

test('verifies the caller and the introspected token in one statement', async () => {
  await askMany([session]);
  const query = jest.spyOn(pg.Client.prototype, 'query');
  const { body } = await askMany([session]);
  expect(body.results).toEqual([expect.objectContaining({ active: true })]);
  const statements = query.mock.calls.map(([config]) => (config as { name?: string }).name);
  // Background work claims what is due, and writes the uses that were noted, at any time.
  const own = statements.filter((name) => !/^(?:claim|write)_/.test(name ?? ''));
  expect(own).toEqual(['live_session_service']);
  query.mockRestore();
});

test('a batch takes 1 to 200 tokens and returns results in their order, also for duplicates', async () => {
  const pat = await identity.createToken(session);
  const tokens = Array.from({ length: 200 }, (_, index) => (index % 2 ? 'garbage' : pat.accessToken));
  const { status, body } = await askMany(tokens);
  expect(status).toBe(200);
  expect(body.results.map(({ active }: { active: boolean }) => active)).toEqual(
    tokens.map((token) => token !== 'garbage'),
  );
  for (const wrong of [[], [...tokens, 'x'], [''], ['x'.repeat(4_097)], 'x', [1], undefined])
    expect((await askMany(wrong)).status).toBe(400);
});

test('rejects introspection by a session, by a token and without a credential', async () => {
  const pat = await identity.createToken(session);
  for (const as of [session, pat.accessToken])
    expect(await ask(session, as)).toMatchObject({
      status: 403,
      body: { error: { code: 'SERVICE_REQUIRED' } },
    });
  const nobody = await identity.call('POST', path, { raw: 'token=x', headers: formType });
  expect(nobody.status).toBe(401);
});

test('a service credential is rejected as a member, and expires after five minutes', async () => {
  for (const [method, route] of [
    ['GET', '/api/v1/users/me'],
    ['POST', '/api/v1/personal-access-tokens'],
    ['GET', '/api/v1/audit'],
    ['POST', '/mcp'],
  ] as const)
    expect([route, (await identity.call(method, route, { token: service })).status]).toEqual([route, 403]);
  identity.advance(300_000);
  expect((await ask(session)).status).toBe(401);
});
