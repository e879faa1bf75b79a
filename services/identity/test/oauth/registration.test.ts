import { startIdentity } from '../identity.js';
import {
  consent,
  consentAt,
  createAuthorization,
  createBrowser,
  exchangeCode,
  REDIRECT_URI,
} from './flow.js';

const identity = await startIdentity({ environment: { OAUTH_REGISTRATION: 'on' } });
afterAll(() => identity.close());

const register = (fields: object = {}) =>
  identity.call('POST', '/oauth2/register', {
    body: {
      client_name: 'Agent',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      ...fields,
    },
    headers: { origin: 'https://inspector.example' },
  });

test('a client registers itself from any origin and connects, and the page says that nobody has verified it', async () => {
  const registered = await register();
  expect([registered.status, registered.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
  expect(registered.body.client_secret).toBeUndefined();
  const clientId = registered.body.client_id as string;
  const browser = createBrowser(identity);
  await browser.signIn();
  const authorization = createAuthorization(clientId);
  const started = await browser.get(authorization.url);
  const page = await browser.get(browser.getLocation(started));
  expect(page.text).toContain('Nobody has verified who it is');
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
});

test.each([
  ['a redirect URI of a script', { redirect_uris: ['javascript:alert(1)'] }],
  ['a plain redirect URI to another machine', { redirect_uris: ['http://elsewhere.example/cb'] }],
  [
    'redirect URIs that are too long in all',
    {
      redirect_uris: Array.from(
        { length: 5 },
        (_, index) => `https://a.example/${index}${'x'.repeat(1_900)}`,
      ),
    },
  ],
  ['user information in its redirect URI', { redirect_uris: ['https://claude.ai@elsewhere.example/cb'] }],
])('a registration with %s is refused', async (_what, fields) => {
  expect((await register(fields)).status).toBe(400);
});

test.each([
  ['no authentication method', {}],
  ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
])('a client that registers with %s becomes a public client, as the response says', async (_what, fields) => {
  const { body, status } = await register({ token_endpoint_auth_method: undefined, ...fields });
  expect([status, body.token_endpoint_auth_method, body.client_secret]).toEqual([201, 'none', undefined]);
});

test('a client that knows no metadata registers, connects and refreshes at the root', async () => {
  const atRoot = (path: string, form: Record<string, string>) =>
    identity.call('POST', path, {
      raw: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const { body: client } = await identity.call('POST', '/register', {
    body: { redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'] },
  });
  const clientId = client.client_id as string;
  const browser = createBrowser(identity);
  await browser.signIn();
  const { url, verifier } = createAuthorization(clientId);
  const target = await consentAt(browser, url.replace('/oauth2/authorize', '/authorize'));
  const exchanged = await atRoot('/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: target.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  });
  expect(exchanged.status).toBe(200);
  const { status } = await atRoot('/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: exchanged.body.refresh_token as string,
  });
  expect(status).toBe(200);
});

test.each([
  ['/oauth2/token', 'POST, OPTIONS'],
  ['/token', 'POST, OPTIONS'],
  ['/oauth2/revoke', 'POST, OPTIONS'],
  ['/oauth2/register', 'POST, OPTIONS'],
])('GET %s is 405 in the form of RFC 6749', async (path, allow) => {
  const { status, headers, body } = await identity.call('GET', path);
  expect([status, headers.get('allow'), body]).toEqual([
    405,
    allow,
    { error: 'invalid_request', error_description: 'Method not allowed' },
  ]);
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

test('registrations from one address are limited, and unused ones are deleted after a day', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => register()));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.length).toBeGreaterThan(0);
  // In the form of RFC 7591, which a page of another origin can read.
  for (const { status, headers, body } of refused)
    expect([status, headers.get('access-control-allow-origin'), body.error]).toEqual([
      429,
      '*',
      'temporarily_unavailable',
    ]);
  expect(refused[0]?.body.error_description).toBe('Too many registrations: try again later');
  const count = async () =>
    (await identity.db.query(`select 1 from oauth_clients where kind = 'registered'`)).rowCount ?? 0;
  const before = await count();
  identity.advance(25 * 60 * 60_000);
  await identity.sweep();
  const after = await count();
  expect(before).toBeGreaterThan(after);
  // Those that were used stay.
  expect(after).toBe(2);
});

test('registration is off unless an operator turns it on, and documents can be turned off', async () => {
  const closed = await startIdentity({ environment: { OAUTH_CLIENT_HOSTS: 'none' } });
  try {
    const metadata = await closed.call('GET', '/.well-known/oauth-authorization-server');
    expect(metadata.body.client_id_metadata_document_supported).not.toBe(true);
    const { url } = createAuthorization('https://none/client.json');
    expect((await closed.call('GET', url)).text).toContain('invalid_client');
    const { status } = await closed.call('POST', '/oauth2/register', {
      body: { redirect_uris: [REDIRECT_URI] },
    });
    expect(status).toBe(404);
  } finally {
    await closed.close();
  }
});
