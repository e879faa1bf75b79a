import { createHash } from 'node:crypto';
import { createDecoder } from 'fast-jwt';
import { settleSuccessor } from '../../src/oauth/provider/refresh-rotation.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startReplica } from '../replica.js';
import { createAgentApplication, PUBLIC_URL } from './applications.js';
import { startWithApplication } from './connected-application.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  listTools,
  openConsent,
  postForm,
  REDIRECT_URI,
  refresh,
  supersede,
} from './flow.js';

const running = await startWithApplication();
const { identity, session, clientId, browser, connect } = running;
afterAll(() => running.close());

const decode = createDecoder();
const fieldsForConsent = (csrf: string) => ({ csrf, decision: 'allow', scope: 'user:read' });

async function countGrants(): Promise<number | null> {
  return (await identity.db.query('select from oauth_grants')).rowCount;
}

test('OAUTH-6: a person connects an application, which then uses the tools as that person', async () => {
  // It may name the response mode of the metadata.
  const { authorization, target, answer, token } = await connect({}, { response_mode: 'query' });
  expect(target.origin + target.pathname).toBe(REDIRECT_URI);
  expect(target.searchParams.get('state')).toBe(authorization.state);
  expect(target.searchParams.get('iss')).toBe(`${PUBLIC_URL}/oauth2`);
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      access_token: token,
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'user:read crawl:read',
      refresh_token: expect.any(String),
    },
  ]);
  expect(decode(token)).toMatchObject({ aud: ['mcp'], client_id: clientId });
  const call = { name: 'whoami', arguments: {} };
  const { body } = await createCaller(identity, token).legacy('tools/call', call);
  expect(body.result.structuredContent).toMatchObject({
    user: { email: 'admin@example.com' },
    credential: { kind: 'oauth', scopes: ['user:read', 'crawl:read'] },
  });
});

test.each([`${PUBLIC_URL}/mcp/`, PUBLIC_URL, `${PUBLIC_URL}/`, `${PUBLIC_URL.toUpperCase().replace('HTTP', 'http')}/mcp`])(
  'OAUTH-23: the indicator %s means the tool endpoint, when the code is exchanged and refreshed too',
  async (resource) => {
    const authorization = createAuthorization(clientId, { resource });
    const target = await consent(browser, authorization);
    const code = target.searchParams.get('code') ?? '';
    const { status, body } = await exchangeCode(identity, authorization, code, { resource });
    expect([status, decode(body.access_token as string)]).toMatchObject([200, { aud: ['mcp'] }]);
    const refreshed = await refresh(identity, clientId, body.refresh_token as string, { resource });
    expect(decode(refreshed.body.access_token as string)).toMatchObject({ aud: ['mcp'] });
  },
); // oxfmt-ignore

test('behind a gateway with TLS, an application connects, and every cookie is kept to TLS and to this host', async () => {
  const publicUrl = 'https://knowledge.example.com';
  const replica = await startReplica(identity.databaseUrl, { PUBLIC_URL: publicUrl });
  try {
    const secure = createBrowser(replica, publicUrl);
    await secure.signIn();
    const authorization = createAuthorization(clientId, { resource: `${publicUrl}/mcp` });
    const lines = (await secure.get(authorization.url)).headers.getSetCookie();
    expect(lines.map((line) => line.split('=', 1)[0])).toEqual(
      expect.arrayContaining(['__Secure-oauth_interaction', '__Secure-oauth_resume']),
    );
    for (const line of lines)
      for (const attribute of [/secure/i, /httponly/i, /samesite=lax/i]) expect(line).toMatch(attribute);
    const target = await consent(secure, authorization);
    expect(target.searchParams.get('iss')).toBe(`${publicUrl}/oauth2`);
    const answer = await exchangeCode(replica, authorization, target.searchParams.get('code') ?? '');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await listTools(replica, answer.body.access_token as string)).toBe(200);
  } finally {
    await replica.close();
  }
});

test.each([
  ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['with the plain method of PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['for an unknown resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ['for a token in the front channel', { response_type: 'token' }, 'unsupported_response_type'],
])('a request %s is refused', async (_what, fields, error) => {
  const answer = await browser.get(createAuthorization(clientId, fields).url);
  const { searchParams, hash } = new URL(browser.getLocation(answer));
  const found = searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error');
  expect([answer.status, found]).toEqual([303, error]);
});

test.each(['form_post', 'fragment'])(
  'OAUTH-6: a request for the response mode %s, which the metadata does not offer, is refused in the query',
  async (mode) => {
    const { url, state } = createAuthorization(clientId, { response_mode: mode });
    const answer = await browser.get(url);
    const target = new URL(browser.getLocation(answer));
    expect([answer.status, target.origin + target.pathname, target.hash]).toEqual([303, REDIRECT_URI, '']);
    const error = { error: 'unsupported_response_mode', state };
    expect(Object.fromEntries(target.searchParams)).toMatchObject(error);
  },
);

test.each([
  ['https://evil.example/callback'],
  ['http://127.0.0.1:33418/callback/other'],
  ['http://127.0.0.1:33418/callback/../other'],
  ['http://127.0.0.1:33418/callback#x'],
  ['http://127.0.0.1:33418/callback?next=evil.example'],
  ['http://evil.example@127.0.0.1:33418/callback'],
  ['http://127.0.0.1.evil.example/callback'],
  ['http://localhost:33418/callback'],
])('open redirect: the redirect URI %s is not followed', async (redirectUri) => {
  const answer = await browser.get(createAuthorization(clientId, { redirect_uri: redirectUri }).url);
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
});

test.each([
  ['a long parameter', { state: 'x'.repeat(2_049) }],
  ['many parameters', Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`p${index}`, '1']))],
  [
    'parameters that are long in all',
    Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`p${index}`, 'x'.repeat(2_000)])),
  ],
])('an authorization request with %s is refused, and nothing is stored', async (_what, fields) => {
  const count = async () =>
    (await identity.db.query(`select from oauth_artifacts where model = 'Interaction'`)).rowCount;
  const before = await count();
  const { status, body } = await identity.call('GET', createAuthorization(clientId, fields).url);
  expect([status, body.error, await count()]).toEqual([400, 'invalid_request', before]);
});

test('mix-up: consent is required every time, and each answer names its issuer, a refusal too', async () => {
  const denied = await consent(browser, createAuthorization(clientId), { decision: 'deny' });
  expect(denied.searchParams.get('error')).toBe('access_denied');
  const elsewhere = createAuthorization(clientId, { resource: 'https://elsewhere.example' });
  const invalid = new URL(browser.getLocation(await browser.get(elsewhere.url)));
  for (const { searchParams } of [denied, invalid])
    expect(searchParams.get('iss')).toBe(`${PUBLIC_URL}/oauth2`);
});

test('session fixation: what a person has allowed in one browser gives no code to another', async () => {
  const { path, csrf } = await openConsent(browser, createAuthorization(clientId));
  const resume = browser.getLocation(await browser.post(path, fieldsForConsent(csrf)));
  const thief = createBrowser(identity);
  await thief.signIn();
  const stolen = await thief.get(resume);
  expect([stolen.status, stolen.headers.get('location')]).toEqual([400, null]);
  expect((await browser.get(resume)).headers.get('location')).toContain('code=');
  const again = await browser.get(resume);
  expect(again.headers.get('location') ?? '').not.toContain('code=');
});

test('login CSRF: the form of one person is not accepted from another who has signed in since', async () => {
  const own = createBrowser(identity);
  await own.signIn();
  const { path, csrf } = await openConsent(own, createAuthorization(clientId));
  const member = await identity.createMember(session);
  for (const name of [...own.cookies.keys()].filter((one) => one.startsWith('platform_')))
    own.cookies.delete(name);
  await own.signIn(member);
  const before = await countGrants();
  expect((await own.post(path, fieldsForConsent(csrf))).status).toBe(403);
  expect(await countGrants()).toBe(before);
});

test('cross-site request forgery: consent is given by the page alone, with its token and from its origin', async () => {
  const { path, csrf } = await openConsent(browser, createAuthorization(clientId));
  const before = await countGrants();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const [token, site, origin] of [
    [csrf, 'cross-site', 'https://evil.example'],
    [csrf, 'same-site', 'https://other.127.0.0.1'],
    ['x', 'same-origin', PUBLIC_URL],
  ] as const) {
    const answer = await identity.call('POST', path, {
      raw: new URLSearchParams(fieldsForConsent(token)).toString(),
      headers: {
        cookie,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': site,
        origin,
      },
    });
    expect(answer.status).toBe(403);
  }
  expect(await countGrants()).toBe(before);
});

test('code injection: a code needs its verifier, its redirect URI and its client, and is used once', async () => {
  const otherId = await createAgentApplication(identity, session);
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  // A thief who saw the request knows the challenge, which the plain method would take for the verifier.
  const challenge = createHash('sha256').update(authorization.verifier).digest('base64url');
  const form = { grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: REDIRECT_URI };
  for (const refused of [
    await exchangeCode(identity, authorization, code, { code_verifier: 'x'.repeat(43) }),
    await exchangeCode(identity, authorization, code, { code_verifier: challenge }),
    await exchangeCode(identity, authorization, code, { redirect_uri: 'http://127.0.0.1:1/callback' }),
    await exchangeCode(identity, { ...authorization, clientId: otherId }, code),
    await postForm(identity, 'token', form),
  ])
    expect(refused.body.error).toBe('invalid_grant');
  const { body } = await exchangeCode(identity, authorization, code);
  expect(await listTools(identity, body.access_token as string)).toBe(200);
  expect((await exchangeCode(identity, authorization, code)).body.error).toBe('invalid_grant');
  // The code may have been stolen: everything that came of it ends.
  expect(await listTools(identity, body.access_token as string)).toBe(401);
});

test('OAUTH-14: a refresh token yields the same successor until that is used, and then ends the connection', async () => {
  const { refreshToken: old } = await connect();
  const answers = await Promise.all([1, 2, 3].map(() => refresh(identity, clientId, old)));
  // A laptop that slept before the response arrived repeats the request the next day.
  await identity.db.query(`update oauth_artifacts set consumed_at = consumed_at - interval '1 day'`);
  answers.push(await refresh(identity, clientId, old));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const [successor, ...others] = new Set(answers.map(({ body }) => body.refresh_token as string));
  expect([successor === old, others]).toEqual([false, []]);
  // The database alone reveals neither.
  const { rows } = await identity.db.query<{ row: string }>('select a::text as row from oauth_artifacts a');
  for (const { row } of rows) expect([old, successor].some((token) => row.includes(token ?? ''))).toBe(false);

  const next = await refresh(identity, clientId, successor ?? '');
  expect(next.status).toBe(200);
  for (const token of [old, next.body.refresh_token as string])
    expect((await refresh(identity, clientId, token)).body.error).toBe('invalid_grant');
  expect(await listTools(identity, next.body.access_token as string)).toBe(401);
});

test('OAUTH-14: a refresh token whose successor was used is stored without its payload, and ends the connection when it is used', async () => {
  const { refreshToken: old } = await connect();
  const newest = await supersede(identity, clientId, old);
  const { rows } = await identity.db.query<{ payload: object | null }>(
    `select payload from oauth_artifacts where model = 'RefreshToken' and grant_id =
       (select grant_id from oauth_artifacts where model = 'RefreshToken' order by expires_at desc limit 1) order by expires_at`,
  );
  expect(rows.filter(({ payload }) => payload === null)).toHaveLength(1);
  expect(rows).toHaveLength(3);
  // A request that presented it before that, and took longer, opens no second branch.
  expect(await settleSuccessor(identity.db, old, 'the refresh token of the late one')).toBeNull();
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: old, scope: 'user:read' };
  expect((await postForm(identity, 'token', form)).body.error).toBe('invalid_grant');
  expect((await refresh(identity, clientId, newest)).body.error).toBe('invalid_grant');
});

test('a code and a refresh token can be used again when their tokens could not be stored', async () => {
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  /** Sends a request while no access token can be stored, and then again. */
  const sendTwice = async (send: () => ReturnType<typeof refresh>) => {
    await identity.db.query(
      'alter table oauth_access_tokens add constraint no_tokens check (false) not valid',
    );
    const failed = await send();
    await identity.db.query('alter table oauth_access_tokens drop constraint no_tokens');
    expect([failed.status, failed.body.error]).toEqual([503, 'temporarily_unavailable']);
    return send();
  };
  const exchanged = await sendTwice(() => exchangeCode(identity, authorization, code));
  expect(exchanged.status).toBe(200);
  const refreshed = await sendTwice(() =>
    refresh(identity, clientId, exchanged.body.refresh_token as string),
  );
  expect(refreshed.status).toBe(200);
  expect(await listTools(identity, refreshed.body.access_token as string)).toBe(200);
  // It is used once all the same.
  expect((await exchangeCode(identity, authorization, code)).body.error).toBe('invalid_grant');
});

const METADATA = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`;

test('OAUTH-9: a missing scope is a challenge that names all that the client needs', async () => {
  const { token } = await connect({ scope: 'user:read' });
  const call = { name: 'list_my_tokens', arguments: {} };
  const refused = await createCaller(identity, token).legacy('tools/call', call);
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    `Bearer realm="platform", error="insufficient_scope", scope="user:read pat:read", ${METADATA}`,
  ]);
});

test('OAUTH-9: a request without a credential is pointed to the metadata, which leads to the authorization server', async () => {
  const { status, headers } = await identity.call('POST', '/mcp', { body: {} });
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="platform", scope="user:read kb:read", ${METADATA}`,
  ]);
  const slashed = await identity.call('POST', '/mcp/', { body: {} });
  expect([slashed.status, slashed.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="platform", scope="user:read kb:read", ${METADATA.slice(0, -1)}/"`,
  ]);
  const other = await identity.call('GET', '/.well-known/oauth-protected-resource/mcp/');
  expect([other.status, other.body.resource]).toEqual([200, `${PUBLIC_URL}/mcp/`]);
  const resource = await identity.call('GET', '/.well-known/oauth-protected-resource/mcp');
  expect(resource.body).toMatchObject({
    resource: `${PUBLIC_URL}/mcp`,
    authorization_servers: [`${PUBLIC_URL}/oauth2`],
    bearer_methods_supported: ['header'],
    scopes_supported: ['user:read', 'kb:read'],
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
  // Registration is off unless an operator turns it on.
  const registration = { body: { redirect_uris: [REDIRECT_URI] } };
  expect((await identity.call('POST', '/oauth2/register', registration)).status).toBe(404);
});
