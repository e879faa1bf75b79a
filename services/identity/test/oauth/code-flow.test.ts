import { settleSuccessor } from '../../src/oauth/provider/refresh-rotation.js';
import { createDecoder } from 'fast-jwt';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { PUBLIC_URL } from './applications.js';
import { startWithApplication } from './connected-application.js';
import {
  consent,
  createAuthorization,
  exchangeCode,
  postForm,
  REDIRECT_URI,
  refresh,
  supersede,
} from './flow.js';

const running = await startWithApplication();
const { identity, clientId, browser, connect } = running;
afterAll(() => running.close());

const decode = createDecoder();

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

test.each(['form_post', 'fragment'])(
  'OAUTH-6: a request for the response mode %s, which the metadata does not offer, is refused in the query',
  async (mode) => {
    const { url, state } = createAuthorization(clientId, { response_mode: mode });
    const answer = await browser.get(url);
    const target = new URL(browser.getLocation(answer));
    expect([answer.status, target.origin + target.pathname, target.hash]).toEqual([303, REDIRECT_URI, '']);
    expect(Object.fromEntries(target.searchParams)).toMatchObject({
      error: 'unsupported_response_mode',
      state,
    });
  },
);

test('OAUTH-6: the response mode of the metadata can be named', async () => {
  const { target } = await connect({}, { response_mode: 'query' });
  expect(target.searchParams.get('code')).toEqual(expect.any(String));
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

test('OAUTH-6: a refresh token yields the same successor until that is used, and then ends the connection', async () => {
  const { answer } = await connect();
  const old = answer.body.refresh_token as string;
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
  expect((await refresh(identity, clientId, old)).body.error).toBe('invalid_grant');
  expect((await refresh(identity, clientId, next.body.refresh_token as string)).body.error).toBe(
    'invalid_grant',
  );
  const list = await createCaller(identity, next.body.access_token as string).legacy('tools/list');
  expect(list.status).toBe(401);
});

test('OAUTH-6: a refresh token whose successor was used is stored without its payload, and ends the connection when it is used', async () => {
  const { answer } = await connect();
  const old = answer.body.refresh_token as string;
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

test.each([
  ['a long parameter', { state: 'x'.repeat(2_049) }],
  ['many parameters', Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`p${index}`, '1']))],
  [
    'parameters that are long in all',
    Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`p${index}`, 'x'.repeat(2_000)])),
  ],
])('an authorization request with %s is refused, and nothing is stored', async (_what, fields) => {
  const count = async () =>
    (await identity.db.query(`select 1 from oauth_artifacts where model = 'Interaction'`)).rowCount;
  const before = await count();
  const { status, body } = await identity.call('GET', createAuthorization(clientId, fields).url);
  expect([status, body.error, await count()]).toEqual([400, 'invalid_request', before]);
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
  const list = await createCaller(identity, refreshed.body.access_token as string).legacy('tools/list');
  expect(list.status).toBe(200);
  // It is used once all the same.
  expect((await exchangeCode(identity, authorization, code)).body.error).toBe('invalid_grant');
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
