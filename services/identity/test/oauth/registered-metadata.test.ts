import { startIdentity } from '../identity.js';
import { consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

const identity = await startIdentity({ environment: { OAUTH_REGISTRATION: 'on' } });
afterAll(() => identity.close());

const register = (redirectUris: readonly string[], name = 'Cursor') =>
  identity.call('POST', '/oauth2/register', {
    body: { client_name: name, redirect_uris: redirectUris, token_endpoint_auth_method: 'none' },
  });

const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback';

test('Cursor registers with three redirect URIs and connects at each of them', async () => {
  const targets = [
    [cursor, 'cursor:'],
    ['https://www.cursor.com/agents/mcp/oauth/callback', 'https://www.cursor.com'],
    ['http://localhost:8787/callback', 'http://localhost:8787'],
  ] as const;
  const redirectUris = targets.map(([uri]) => uri);
  const { body } = await register(redirectUris);
  expect(body.redirect_uris).toEqual(redirectUris);
  const browser = createBrowser(identity);
  await browser.signIn();
  for (const [redirectUri, target] of targets) {
    const authorization = createAuthorization(body.client_id as string, { redirect_uri: redirectUri });
    const page = await browser.get(browser.getLocation(await browser.get(authorization.url)));
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
    `${cursor}/other`,
    'http://elsewhere.example/cb',
    'http://127.0.0.1.elsewhere.example/cb',
    'https://a.example/\0',
    'https://a.example/\u202E',
    `https://a.example/${'x'.repeat(2_000)}`,
  ];
  const safe = 'http://127.0.0.1/callback';
  const { body, status } = await register([...unsafe, safe]);
  expect([status, body.redirect_uris]).toEqual([201, [safe]]);
  expect((await register(unsafe)).body.error).toBe('invalid_redirect_uri');
});

test('response modes that are not offered do not keep a client from registering', async () => {
  const { status } = await identity.call('POST', '/oauth2/register', {
    body: { redirect_uris: ['http://127.0.0.1/callback'], response_modes: ['web_message', 'form_post'] },
  });
  expect(status).toBe(201);
});

test('no more redirect URIs of a registration are kept than an application can have', async () => {
  const { body } = await register(
    Array.from({ length: 100 }, (_value, index) => `https://a.example/${index}`),
  );
  expect(body.redirect_uris).toHaveLength(20);
});

test.each([
  ['a NUL character', 'a\0b', undefined],
  ['a bidirectional control', 'a\u202Eb', undefined],
  ['a line break', 'Claude\nVerified', undefined],
  ['no visible character', '   ', undefined],
  ['too many characters', 'x'.repeat(5_000), 'x'.repeat(100)],
])('the name of a registration with %s is left out or cut', async (_what, name, kept) => {
  const { body, status } = await register(['http://127.0.0.1/callback'], name);
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
  await identity.db.query(`delete from rate_limits where key like 'registration%'`);
  const { status } = await identity.call('POST', '/oauth2/register', {
    body: { redirect_uris: ['http://127.0.0.1/callback'], [name]: value },
  });
  expect([201, 400]).toContain(status);
});
