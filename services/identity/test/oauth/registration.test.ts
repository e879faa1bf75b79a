import { startIdentity } from '../identity.js';
import {
  consent,
  consentAt,
  createAuthorization,
  createBrowser,
  exchangeCode,
  openConsent,
  REDIRECT_URI,
} from './flow.js';

/* Clients that register themselves (RFC 7591). */

const identity = await startIdentity({
  environment: { OAUTH_REGISTRATION: 'on', OAUTH_CLIENT_HOSTS: 'none' },
});
const browser = createBrowser(identity);
await browser.signIn();
afterAll(() => identity.close());

const LOOPBACK = 'http://127.0.0.1/callback';
const register = (fields: object = {}) =>
  identity.call('POST', '/oauth2/register', {
    body: {
      client_name: 'Agent',
      redirect_uris: [LOOPBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      ...fields,
    },
    headers: { origin: 'https://inspector.example' },
  });

test('a client registers itself from any origin and connects, and the page says that nobody has verified it', async () => {
  const registered = await register();
  expect([registered.status, registered.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
  const authorization = createAuthorization(registered.body.client_id as string);
  expect((await openConsent(browser, authorization)).page.text).toContain('Nobody has verified who it is');
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
});

test.each([
  ['no authentication method', {}],
  ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
])('a client that registers with %s becomes a public client, as the response says', async (_what, fields) => {
  const { body, status } = await register({ token_endpoint_auth_method: undefined, ...fields });
  expect([status, body.token_endpoint_auth_method, body.client_secret]).toEqual([201, 'none', undefined]);
});

test('a client that knows no metadata registers, connects and refreshes at the root', async () => {
  const { body: client } = await identity.call('POST', '/register', {
    body: { redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'] },
  });
  const clientId = client.client_id as string;
  const { url, verifier } = createAuthorization(clientId);
  const target = await consentAt(browser, url.replace('/oauth2/authorize', '/authorize'));
  const requestToken = (form: Record<string, string>) =>
    identity.call('POST', '/token', {
      raw: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const exchanged = await requestToken({
    grant_type: 'authorization_code',
    client_id: clientId,
    code: target.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  });
  expect(exchanged.status).toBe(200);
  const { status } = await requestToken({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: exchanged.body.refresh_token as string,
  });
  expect(status).toBe(200);
});

test('Cursor registers with three redirect URIs and connects at each of them', async () => {
  const targets = [
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:'],
    ['https://www.cursor.com/agents/mcp/oauth/callback', 'https://www.cursor.com'],
    ['http://localhost:8787/callback', 'http://localhost:8787'],
  ] as const;
  const redirectUris = targets.map(([uri]) => uri);
  const { body } = await register({ client_name: 'Cursor', redirect_uris: redirectUris });
  expect(body.redirect_uris).toEqual(redirectUris);
  for (const [redirectUri, target] of targets) {
    const authorization = createAuthorization(body.client_id as string, { redirect_uri: redirectUri });
    const { page } = await openConsent(browser, authorization);
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${target};`);
    expect(page.text.includes('a program on the machine')).toBe(!target.startsWith('https:'));
    const answer = await consent(browser, authorization);
    expect(answer.href.startsWith(`${redirectUri}?`)).toBe(true);
    const code = answer.searchParams.get('code') ?? '';
    const exchanged = await exchangeCode(identity, authorization, code, { redirect_uri: redirectUri });
    expect(exchanged.status).toBe(200);
  }
});

test('redirect URIs that are not safe are left out, and a registration without any other is refused', async () => {
  const unsafe = [
    'javascript:alert(1)',
    'ms-msdt:/id',
    'cursor://elsewhere/oauth/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback/other',
    'http://elsewhere.example/cb',
    'http://127.0.0.1.elsewhere.example/cb',
    'https://claude.ai@elsewhere.example/cb',
    'https://a.example/\0',
    'https://a.example/\u202E',
    `https://a.example/${'x'.repeat(2_000)}`,
  ];
  const { body, status } = await register({ redirect_uris: [...unsafe, LOOPBACK] });
  expect([status, body.redirect_uris]).toEqual([201, [LOOPBACK]]);
  expect((await register({ redirect_uris: unsafe })).body.error).toBe('invalid_redirect_uri');
});

test('no more redirect URIs of a registration are kept than an application can have, and none that are too long in all', async () => {
  const many = Array.from({ length: 100 }, (_value, index) => `https://a.example/${index}`);
  expect((await register({ redirect_uris: many })).body.redirect_uris).toHaveLength(20);
  const long = many.slice(0, 5).map((uri) => uri + 'x'.repeat(1_900));
  expect((await register({ redirect_uris: long })).status).toBe(400);
});

test.each([
  ['a NUL character', 'a\0b', undefined],
  ['a bidirectional control', 'a\u202Eb', undefined],
  ['a line break', 'Claude\nVerified', undefined],
  ['no visible character', '   ', undefined],
  ['too many characters', 'x'.repeat(5_000), 'x'.repeat(100)],
])('the name of a registration with %s is left out or cut', async (_what, name, kept) => {
  const { body, status } = await register({ client_name: name });
  expect([status, body.client_name]).toEqual([201, kept]);
  const { rows } = await identity.db.query('select name from oauth_clients where id = $1', [body.client_id]);
  expect(rows).toEqual([{ name: kept ?? 'Unnamed application' }]);
});

test.each([
  ['redirect_uris', 'https://a.example/cb'],
  ['redirect_uris', { 0: 'https://a.example/cb' }],
  ['redirect_uris', [1, null, {}]],
  ['redirect_uris', null],
  ['grant_types', 'authorization_code'],
  ['grant_types', { length: 3 }],
  ['grant_types', [null, 1]],
  ['client_name', { length: 1e9 }],
  ['client_name', 7],
  ['response_types', 7],
  ['token_endpoint_auth_method', {}],
  ['client_id', {}],
  ['jwks', 7],
  ['contacts', {}],
  ['platform_rules', {}],
])('a registration whose %s is %j is registered without it, or refused', async (name, value) => {
  expect([201, 400]).toContain((await register({ [name]: value })).status);
});

test.each([null, ''])('OAUTH-26: a registration in which every optional field is %j is one without them', async (absent) => {
  const optional = [
    'client_name', 'client_uri', 'logo_uri', 'tos_uri', 'policy_uri', 'contacts', 'scope', 'grant_types', 'response_types',
    'token_endpoint_auth_method', 'application_type', 'jwks', 'jwks_uri', 'software_id', 'software_version',
    'software_statement', 'sector_identifier_uri', 'subject_type', 'default_max_age', 'default_acr_values',
    'initiate_login_uri', 'post_logout_redirect_uris', 'id_token_signed_response_alg', 'dpop_bound_access_tokens',
  ];
  const answer = await register(Object.fromEntries(optional.map((name) => [name, absent])));
  expect([answer.status, answer.body.error_description]).toEqual([201, undefined]);
  const without = await register(Object.fromEntries(optional.map((name) => [name, undefined])));
  const fixed = { client_id: '', client_id_issued_at: 0 };
  expect({ ...answer.body, ...fixed }).toEqual({ ...without.body, ...fixed });
}); // oxfmt-ignore

test('response modes that are not offered do not keep a client from registering', async () => {
  expect((await register({ response_modes: ['web_message', 'form_post'] })).status).toBe(201);
});

test('a registration causes no outgoing request', async () => {
  const sector = await register({ sector_identifier_uri: 'https://elsewhere.example/uris' });
  expect([sector.status, sector.body.sector_identifier_uri]).toEqual([201, undefined]);
  const keys = await register({
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://elsewhere.example/keys',
    dpop_bound_access_tokens: true,
  });
  expect([keys.status, keys.body.jwks_uri]).toEqual([201, undefined]);
  expect(keys.body.dpop_bound_access_tokens).not.toBe(true);
});

test('a registration cannot get the client credentials grant', async () => {
  const { body } = await register({ grant_types: ['client_credentials', 'authorization_code'] });
  expect(body.grant_types).toEqual(['authorization_code']);
});

test('documents of clients can be turned off', async () => {
  const { body } = await identity.call('GET', '/.well-known/oauth-authorization-server');
  expect(body.client_id_metadata_document_supported).not.toBe(true);
  const { url } = createAuthorization('https://none/client.json');
  expect((await identity.call('GET', url)).text).toContain('invalid_client');
});

test.each([
  ['/oauth2/token', 'POST, OPTIONS'],
  ['/token', 'POST, OPTIONS'],
  ['/oauth2/revoke', 'POST, OPTIONS'],
  ['/oauth2/register', 'POST, OPTIONS'],
])('GET %s is 405 in the form of RFC 6749', async (path, allow) => {
  const { status, headers, body } = await identity.call('GET', path);
  const error = { error: 'invalid_request', error_description: 'Method not allowed' };
  expect([status, headers.get('allow'), body]).toEqual([405, allow, error]);
});

// It uses up what the address may register, so it is the last.
test('registrations from one address are limited', async () => {
  const answers: Awaited<ReturnType<typeof register>>[] = [];
  while (answers.length < 100 && answers.every(({ status }) => status === 201))
    answers.push(...(await Promise.all(Array.from({ length: 20 }, () => register()))));
  // In the form of RFC 7591, which a page of another origin can read.
  const { status, headers, body } = answers.find((answer) => answer.status !== 201) ?? {};
  expect([status, headers?.get('access-control-allow-origin'), body]).toEqual([
    429,
    '*',
    {
      error: 'temporarily_unavailable',
      error_description: 'Too many registrations: try again later',
    },
  ]);
});
