import { createHash } from 'node:crypto';
import { createApplication, PUBLIC_URL } from './applications.js';
import { startWithApplication } from './connected-application.js';
import { consent, createAuthorization, createBrowser, exchangeCode, postForm, REDIRECT_URI } from './flow.js';

/* Attacks on the flow that RFC 9700 names, which the other tests of this folder don't hold. */

const running = await startWithApplication();
const { identity, session, clientId, browser } = running;
afterAll(() => running.close());

/** Goes to the consent page, and answers nothing. */
async function openConsent(by = browser, authorization = createAuthorization(clientId)) {
  const path = by.getLocation(await by.get(authorization.url));
  const page = await by.get(path);
  return { path, form: { csrf: by.getFormToken(page), decision: 'allow', scope: 'user:read' } };
}

test('mix-up: each answer names its issuer, a refusal too', async () => {
  const denied = await consent(browser, createAuthorization(clientId), { decision: 'deny' });
  const invalid = await browser.get(
    createAuthorization(clientId, { resource: 'https://elsewhere.example' }).url,
  );
  for (const answer of [denied, new URL(browser.getLocation(invalid))]) {
    expect(answer.searchParams.get('error')).toBeTruthy();
    expect(answer.searchParams.get('iss')).toBe(`${PUBLIC_URL}/oauth2`);
  }
});

test('code injection: a code is worth nothing to another client, nor without its verifier', async () => {
  const { application } = await createApplication(identity, session, {
    grantTypes: ['authorization_code'],
    scopes: ['user:read'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
  });
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const other = { ...authorization, clientId: application.clientId };
  expect((await exchangeCode(identity, other, code)).body.error).toBe('invalid_grant');
  const form = { grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: REDIRECT_URI };
  expect((await postForm(identity, 'token', form)).body.error).toBe('invalid_grant');
  const challenge = createHash('sha256').update(authorization.verifier).digest('base64url');
  // A thief who saw the request knows the challenge, which the plain method would take for the verifier.
  const answer = await exchangeCode(identity, authorization, code, { code_verifier: challenge });
  expect(answer.body.error).toBe('invalid_grant');
});

test('session fixation: what a person has allowed in one browser gives no code to another', async () => {
  const { path, form } = await openConsent();
  const resume = browser.getLocation(await browser.post(path, form));
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
  const { path, form } = await openConsent(own);
  const member = await identity.createMember(session);
  for (const name of [...own.cookies.keys()].filter((one) => one.startsWith('platform_')))
    own.cookies.delete(name);
  await own.signIn(member);
  const { status } = await own.post(path, form);
  expect(status).toBe(403);
  const { rowCount } = await identity.db.query('select from oauth_grants where user_id = $1', [member.id]);
  expect(rowCount).toBe(0);
});

test('cross-site request forgery: consent is given by the page alone, with its token and from its origin', async () => {
  const { path, form } = await openConsent();
  const count = async () => (await identity.db.query('select from oauth_grants')).rowCount;
  const before = await count();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const [fields, origin] of [
    [form, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [form, { 'sec-fetch-site': 'same-site', origin: 'https://other.127.0.0.1' }],
    [
      { ...form, csrf: 'x' },
      { 'sec-fetch-site': 'same-origin', origin: PUBLIC_URL },
    ],
  ] as const) {
    const answer = await identity.call('POST', path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', ...origin },
    });
    expect(answer.status).toBe(403);
  }
  expect(await count()).toBe(before);
});

test.each([
  [
    'with credentials before its host',
    (url: string) => url.replace('127.0.0.1%3A33418', 'evil.example%40127.0.0.1%3A33418'),
  ],
  ['with a fragment', (url: string) => url.replace('%2Fcallback', '%2Fcallback%23x')],
  ['with a path that climbs', (url: string) => url.replace('%2Fcallback', '%2Fcallback%2F..%2Fother')],
  ['with a query', (url: string) => url.replace('%2Fcallback', '%2Fcallback%3Fnext%3Devil.example')],
])('open redirect: a redirect URI %s is not followed', async (_what, change) => {
  const answer = await browser.get(change(createAuthorization(clientId).url));
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
});
