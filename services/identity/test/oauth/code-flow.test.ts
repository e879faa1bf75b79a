import { createDecoder } from 'fast-jwt';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint.js';
import { createApplication, PUBLIC_URL } from './applications.js';
import {
  type Browser,
  consent,
  createAuthorization,
  createBrowser,
  endOverlap,
  exchangeCode,
  postForm,
  REDIRECT_URI,
  refresh,
} from './flow.js';

let identity: IdentityUnderTest;
let session: string;
let clientId: string;
let browser: Browser;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['user:read', 'crawl:read', 'crawl:write'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
  });
  clientId = application.clientId;
  browser = createBrowser(identity);
  await browser.signIn();
});
afterAll(() => identity.close());

const decode = createDecoder();

async function connect(form?: Record<string, string | string[]>) {
  const authorization = createAuthorization(clientId);
  const target = await consent(browser, authorization, form);
  const code = target.searchParams.get('code') ?? '';
  return { authorization, target, code, answer: await exchangeCode(identity, authorization, code) };
}

test('OAUTH-6: a person connects an application, which then uses the tools as that person', async () => {
  const { authorization, target, answer } = await connect();
  expect(target.origin + target.pathname).toBe(REDIRECT_URI);
  expect(target.searchParams.get('state')).toBe(authorization.state);
  expect(target.searchParams.get('iss')).toBe(`${PUBLIC_URL}/oauth2`);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    token_type: 'Bearer',
    expires_in: 600,
    scope: 'user:read crawl:read',
    refresh_token: expect.any(String),
  });
  expect(answer.body.id_token).toBeUndefined();
  expect(decode(answer.body.access_token as string)).toMatchObject({ aud: ['mcp'], client_id: clientId });
  const caller = createCaller(identity, answer.body.access_token as string);
  const { body } = await caller.legacy('tools/call', { name: 'whoami', arguments: {} });
  expect(body.result.structuredContent).toMatchObject({
    user: { email: 'admin@example.com' },
    credential: { kind: 'oauth', scopes: ['user:read', 'crawl:read'] },
  });
});

test('only the scopes that the person ticks are granted, and a refresh gets no more', async () => {
  const { answer } = await connect({ scope: 'user:read' });
  expect(answer.body.scope).toBe('user:read');
  const refreshed = await refresh(identity, clientId, answer.body.refresh_token as string);
  expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'user:read']);
});

test('the consent page names who asks, where the answer goes, each scope and the end, and cannot be framed', async () => {
  const started = await browser.get(createAuthorization(clientId).url);
  const page = await browser.get(browser.getLocation(started));
  for (const text of [
    'Desk agent',
    '127.0.0.1:33418',
    'See the own profile',
    'admin@example.com',
    'machine of your browser',
  ])
    expect(page.text).toContain(text);
  expect(page.text).toMatch(/ends on\s+\d+ \w+ 20\d\d/);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:33418");
  expect(page.text).not.toContain('<script');
});

test('consent is asked every time, and a denial is told to the application', async () => {
  await connect();
  const target = await consent(browser, createAuthorization(clientId), { decision: 'deny' });
  expect(target.searchParams.get('error')).toBe('access_denied');
});

test('a browser that is not signed in goes to the sign-in page and comes back', async () => {
  const other = createBrowser(identity);
  const started = await other.get(createAuthorization(clientId).url);
  const page = other.getLocation(started);
  const sent = await other.get(page);
  expect([sent.status, other.getLocation(sent)]).toEqual([
    303,
    `/sign-in?returnTo=${encodeURIComponent(page)}`,
  ]);
  await other.signIn();
  expect((await other.get(page)).status).toBe(200);
});

test('a consent page cannot be opened or answered in another browser', async () => {
  const started = await browser.get(createAuthorization(clientId).url);
  const other = createBrowser(identity);
  await other.signIn();
  expect((await other.get(browser.getLocation(started))).status).toBe(400);
  const answered = await browser.post(browser.getLocation(started), {
    decision: 'allow',
    scope: 'user:read',
  });
  expect(answered.status).toBe(403);
});

test.each([
  ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['with the plain method of PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['for an unknown resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ['for a token in the front channel', { response_type: 'token' }, 'unsupported_response_type'],
])('a request %s is refused', async (_what, fields, error) => {
  const answer = await browser.get(createAuthorization(clientId, fields).url);
  const location = browser.getLocation(answer);
  expect([
    answer.status,
    new URL(location).searchParams.get('error') ??
      new URLSearchParams(new URL(location).hash.slice(1)).get('error'),
  ]).toEqual([303, error]);
});

test.each([
  ['https://evil.example/callback'],
  ['http://127.0.0.1:33418/callback/other'],
  ['http://127.0.0.1.evil.example/callback'],
  ['http://localhost:33418/callback'],
])('the redirect URI %s is not followed', async (redirectUri) => {
  const answer = await browser.get(createAuthorization(clientId, { redirect_uri: redirectUri }).url);
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
});

test('a code needs its verifier, its redirect URI and its client, and is used once', async () => {
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  for (const fields of [{ code_verifier: 'x'.repeat(43) }, { redirect_uri: 'http://127.0.0.1:1/callback' }])
    expect((await exchangeCode(identity, authorization, code, fields)).body.error).toBe('invalid_grant');
  const first = await exchangeCode(identity, authorization, code);
  expect(first.status).toBe(200);
  const list = () => createCaller(identity, first.body.access_token as string).legacy('tools/list');
  expect((await list()).status).toBe(200);
  expect((await exchangeCode(identity, authorization, code)).body.error).toBe('invalid_grant');
  // The code may have been stolen: everything that came of it ends.
  expect((await list()).status).toBe(401);
});

test('a refresh token is rotated, works for 30 seconds more, and ends the connection after that', async () => {
  const { answer } = await connect();
  const old = answer.body.refresh_token as string;
  const [one, two] = await Promise.all([refresh(identity, clientId, old), refresh(identity, clientId, old)]);
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(one.body.refresh_token).not.toBe(old);
  await endOverlap(identity);
  expect((await refresh(identity, clientId, old)).body.error).toBe('invalid_grant');
  expect((await refresh(identity, clientId, one.body.refresh_token as string)).body.error).toBe(
    'invalid_grant',
  );
  const list = await createCaller(identity, two.body.access_token as string).legacy('tools/list');
  expect(list.status).toBe(401);
});

test.each(['access_token', 'refresh_token'])(
  'revoking the %s ends the connection (RFC 7009)',
  async (name) => {
    const { answer } = await connect();
    const revoked = await postForm(identity, 'revoke', {
      client_id: clientId,
      token: answer.body[name] as string,
    });
    expect(revoked.status).toBe(200);
    const list = await createCaller(identity, answer.body.access_token as string).legacy('tools/list');
    expect(list.status).toBe(401);
    expect((await refresh(identity, clientId, answer.body.refresh_token as string)).status).toBe(400);
  },
);

test('a connection is deleted with all that belongs to it, after the retention of the audit', async () => {
  const { answer } = await connect();
  const { grant_id: id } = (
    await identity.db.query('select grant_id from oauth_access_tokens where id = $1', [
      decode(answer.body.access_token as string).jti,
    ])
  ).rows[0];
  // A refresh token that is issued at the end of a connection expires after it.
  await identity.db.query(
    `update oauth_artifacts set expires_at = now() + interval '10 years' where grant_id = $1`,
    [id],
  );
  const expire = async (days: number) => {
    await identity.db.query(
      `update oauth_grants set expires_at = now() - make_interval(days => $2) where id = $1`,
      [id, days],
    );
    await identity.sweep();
    return (await identity.db.query('select from oauth_grants where id = $1', [id])).rowCount;
  };
  expect([await expire(729), await expire(731)]).toEqual([1, 0]);
  for (const table of ['oauth_artifacts', 'oauth_access_tokens'])
    expect((await identity.db.query(`select from ${table} where grant_id = $1`, [id])).rowCount).toBe(0);
});

test('another client cannot revoke a token', async () => {
  const { answer } = await connect();
  const other = await createApplication(identity, session, {
    grantTypes: ['authorization_code'],
    redirectUris: ['https://other.example/cb'],
    authMethod: 'none',
  });
  const token = answer.body.access_token as string;
  await postForm(identity, 'revoke', { client_id: other.application.clientId, token });
  expect((await createCaller(identity, token).legacy('tools/list')).status).toBe(200);
});

test('owners and administrators see connected apps and end them at once', async () => {
  const { answer } = await connect();
  await identity.db.query('update oauth_grants set last_address = null');
  await refresh(identity, clientId, answer.body.refresh_token as string);
  const own = await identity.call('GET', '/api/v1/connected-apps', { token: session });
  const [app] = own.body.data;
  expect(app).toMatchObject({
    client: { id: clientId, kind: 'application', name: 'Desk agent', host: null },
    scopes: ['user:read', 'crawl:read'],
    lastAddress: '127.0.0.1',
  });
  const all = await identity.call('GET', '/api/v1/connected-apps/admin', { token: session });
  expect(all.body.data[0]).toMatchObject({ id: app.id, owner: { email: 'admin@example.com' } });
  const member = await identity.createMember(session);
  expect(
    (await identity.call('DELETE', `/api/v1/connected-apps/${app.id}`, { token: member.session })).status,
  ).toBe(404);
  const other = await identity.createOrganisation('elsewhere@example.com');
  expect(
    (await identity.call('DELETE', `/api/v1/connected-apps/admin/${app.id}`, { token: other.session }))
      .status,
  ).toBe(404);
  expect((await identity.call('DELETE', `/api/v1/connected-apps/${app.id}`, { token: session })).status).toBe(
    200,
  );
  expect((await createCaller(identity, answer.body.access_token as string).legacy('tools/list')).status).toBe(
    401,
  );
  const audit = await identity.call('GET', `/api/v1/audit?subjectId=${app.id}`, { token: session });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'connected_app.revoked',
    'connected_app.authorized',
  ]);
});

test('a missing scope is a challenge that names all that the client needs', async () => {
  const { answer } = await connect({ scope: 'user:read' });
  const caller = createCaller(identity, answer.body.access_token as string);
  const refused = await caller.legacy('tools/call', { name: 'list_my_tokens', arguments: {} });
  expect(refused.status).toBe(403);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer realm="platform", error="insufficient_scope", scope="user:read pat:read", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
  );
});

test('a request without a credential is pointed to the metadata, which leads to the authorization server', async () => {
  const { status, headers } = await identity.call('POST', '/mcp', { body: {} });
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="platform", scope="user:read kb:read crawl:read", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  const resource = await identity.call('GET', '/.well-known/oauth-protected-resource/mcp');
  expect(resource.body).toMatchObject({
    resource: `${PUBLIC_URL}/mcp`,
    authorization_servers: [`${PUBLIC_URL}/oauth2`],
    scopes_supported: ['user:read', 'kb:read', 'crawl:read'],
  });
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/oauth2',
    '/oauth2/.well-known/oauth-authorization-server',
  ]) {
    const { body } = await identity.call('GET', path, { headers: { host: 'forged.example' } });
    expect(body).toMatchObject({
      issuer: `${PUBLIC_URL}/oauth2`,
      authorization_endpoint: `${PUBLIC_URL}/oauth2/authorize`,
      token_endpoint: `${PUBLIC_URL}/oauth2/token`,
      revocation_endpoint: `${PUBLIC_URL}/oauth2/revoke`,
      jwks_uri: `${PUBLIC_URL}/.well-known/jwks.json`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    expect(body.token_endpoint_auth_methods_supported).toContain('none');
    expect(body.scopes_supported).not.toContain('openid');
    expect(body.registration_endpoint).toBeUndefined();
  }
});
