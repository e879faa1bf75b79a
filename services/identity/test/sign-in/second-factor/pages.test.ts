import { codeIn, linkIn, newPassword, startPlatform, subjects, tokenIn } from '../account-flows/platform.js';
import { password } from '../account-flows/users.js';
import { createHttpBrowser, fieldIn, type HttpBrowser } from '../../browser.js';
import { admin } from '../../identity.js';
import { beginChallenge, createPhone } from './authenticator.js';
import { addPasskey, prove, removePasskey, signInWith } from './passkey.js';

const VERIFY = '/sign-in/second-factor';
const SET_UP = '/sign-in/second-factor/set-up';
const SECURITY = '/sign-in/security';

const platform = await startPlatform();
const phone = createPhone(platform.identity);
afterAll(() => platform.close());

const open = () => createHttpBrowser(platform.identity.url);
const status = async (browser: HttpBrowser) => (await browser.call('GET', '/api/v1/users/me')).status;
const secretIn = (text: string) =>
  /type this key: <code>([A-Z2-7 ]+)</i.exec(text)?.[1]?.replaceAll(' ', '') ?? '';
const recoveryCodesIn = (text: string) =>
  [...text.matchAll(/<code>([\w-]{19})<\/code>/g)].map(([, code = '']) => code);

/** Sets an app up on the page of the own second factor. */
async function enrolOnPage(browser: HttpBrowser) {
  const page = await browser.open(`${SECURITY}/set-up`);
  const begun = await browser.post(`${SECURITY}/set-up`, { csrf: fieldIn(page, 'csrf') });
  const app = phone.install(secretIn(begun.text));
  const fields = { csrf: fieldIn(begun, 'csrf'), enrolment: fieldIn(begun, 'enrolment') };
  const wrong = await browser.post(`${SECURITY}/confirm`, { ...fields, code: '000000' });
  expect([wrong.status, fieldIn(wrong, 'enrolment')]).toEqual([400, fields.enrolment]);
  const firstCode = app.code();
  const done = await browser.post(`${SECURITY}/confirm`, { ...fields, code: firstCode });
  return { app, firstCode, done, recoveryCodes: recoveryCodesIn(done.text) };
}

async function createEnrolled() {
  const user = await platform.createUser();
  const browser = open();
  await browser.signIn({ email: user.email, password });
  return { user, browser, ...(await enrolOnPage(browser)) };
}

async function enterCode(browser: HttpBrowser, code: string, path = `${VERIFY}?returnTo=%2Ftokens`) {
  const page = await browser.open(path);
  return browser.post(VERIFY, { csrf: fieldIn(page, 'csrf'), returnTo: fieldIn(page, 'returnTo'), code });
}

test('AUTH-50 a person sets an app up on a page, without JavaScript, and is mailed', async () => {
  const { user, done, recoveryCodes } = await createEnrolled();
  expect([done.status, recoveryCodes.length, done.headers.get('cache-control')]).toEqual([
    200,
    10,
    'no-store',
  ]);
  // Its only script copies, saves and prints the codes.
  expect(done.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'(?:;|$)/);
  await platform.mailTo(user.email, /^A second factor was added to your account$/);
});

test('AUTH-31 the page needs a session, its own form, and a session that was confirmed recently', async () => {
  const browser = open();
  expect((await browser.open(SECURITY)).headers.get('location')).toBe(
    '/sign-in?returnTo=%2Fsign-in%2Fsecurity',
  );
  const user = await platform.createUser();
  await browser.signIn({ email: user.email, password });
  const csrf = fieldIn(await browser.open(`${SECURITY}/set-up`), 'csrf');
  for (const path of ['set-up', 'remove', 'recovery-codes']) {
    expect((await browser.post(`${SECURITY}/${path}`, { csrf: 'x' })).status).toBe(403);
    expect(
      (await browser.post(`${SECURITY}/${path}`, { csrf }, { 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(403);
  }
  phone.advance(10 * 60_000);
  const own = `${SECURITY}/set-up?returnTo=%2Faccount`;
  const confirm = `/sign-in/confirm?${new URLSearchParams({ returnTo: own }).toString()}`;
  for (const answer of [await browser.open(own), await browser.post(`${SECURITY}/set-up`, { csrf })])
    expect([answer.status, answer.headers.get('location')]).toEqual([303, confirm]);
  const page = await browser.open(confirm);
  const confirmed = await browser.post('/sign-in/confirm', {
    csrf: fieldIn(page, 'csrf'),
    returnTo: fieldIn(page, 'returnTo'),
    password,
  });
  expect(confirmed.headers.get('location')).toBe(own);
  expect((await browser.open(own)).status).toBe(200);
});

test('AUTH-36 the page of the own second factor leads back to where the person came from, and to no other site', async () => {
  const { browser } = await createEnrolled();
  for (const [query, back] of [
    ['?returnTo=%2Faccount%3Ftab%3D2', '/account?tab=2'],
    ['', '/account'],
    ['?returnTo=https%3A%2F%2Fevil.example', '/'],
  ])
    expect((await browser.open(SECURITY + query)).text).toContain(`<a href="${back}">Back</a>`);
});

test('AUTH-48 with an app set up, the page asks for a code', async () => {
  const { user, browser, app, firstCode } = await createEnrolled();
  const page = await browser.open(`${SECURITY}/remove`);
  expect(page.text).toMatch(/<input[^>]* name="code"/);
  const send = (path: string, code: string) =>
    browser.post(`${SECURITY}/${path}`, { csrf: fieldIn(page, 'csrf'), code });
  for (const path of ['set-up', 'remove', 'recovery-codes']) {
    const alone = await send(path, '');
    expect([alone.status, alone.text]).toEqual([400, expect.stringContaining('A passkey, a code of your authenticator app or a recovery code is required')]);
    const wrong = await send(path, firstCode);
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('wrong or was used before')]);
  }
  const renewed = recoveryCodesIn((await send('recovery-codes', app.nextCode())).text);
  expect(renewed).toHaveLength(10);
  const begun = await send('set-up', renewed[0] ?? '');
  const next = phone.install(secretIn(begun.text));
  const fields = { csrf: fieldIn(begun, 'csrf'), enrolment: fieldIn(begun, 'enrolment') };
  expect((await browser.post(`${SECURITY}/confirm`, { ...fields, code: '000000' })).status).toBe(400);
  const done = await browser.post(`${SECURITY}/confirm`, { ...fields, code: next.code() });
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('The app is set up.')]);
  expect((await send('remove', next.nextCode())).text).toContain('The app is removed.');
  expect((await open().signIn({ email: user.email, password })).headers.get('location')).toBe('/');
}); // oxfmt-ignore

test('AUTH-31 an app is set up whatever the length of the name of the organisation', async () => {
  const boss = { email: 'boss@long.example', password: admin.password };
  const { orgId } = await platform.identity.createOrganisation(boss.email);
  await platform.identity.db.query("update organisations set name = repeat('長', 1000) where id = $1", [orgId]);
  const browser = open();
  await browser.signIn(boss);
  const { done, recoveryCodes } = await enrolOnPage(browser);
  expect([done.status, recoveryCodes.length]).toEqual([200, 10]);
}); // oxfmt-ignore

test('AUTH-47 a browser has no session between the factors, and goes on where it was going', async () => {
  const { user, app } = await createEnrolled();
  const browser = open();
  const first = await browser.signIn({ email: user.email, password }, '/tokens?page=2');
  expect([first.status, first.headers.get('location')]).toEqual([
    303,
    `${VERIFY}?returnTo=%2Ftokens%3Fpage%3D2`,
  ]);
  expect([...browser.cookies.keys()].toSorted()).toEqual(['platform_form', 'platform_sign_in']);
  const [cookie] = first.headers.getSetCookie().filter((line) => line.startsWith('platform_sign_in'));
  expect(cookie).toMatch(/^platform_sign_in=[\w-]{43}; Max-Age=600; Path=\/; SameSite=Lax; HttpOnly$/);
  expect(await status(browser)).toBe(401);
  for (const path of [SECURITY, '/sign-out', '/oauth2/connect'])
    expect((await browser.open(path)).text).not.toContain(user.email);
  // The challenge is no session, whatever it is presented as.
  const challenge = browser.cookies.get('platform_sign_in') ?? '';
  const headers = { cookie: `platform_session=${challenge}`, 'x-csrf-token': 'x' };
  expect((await browser.call('GET', '/api/v1/users/me', { headers })).status).not.toBe(200);
  const wrong = await enterCode(browser, '000000');
  expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining('wrong or was used before')]);
  const done = await enterCode(browser, app.nextCode(), first.headers.get('location') ?? '');
  expect([done.status, done.headers.get('location')]).toEqual([303, '/tokens?page=2']);
  expect([await status(browser), browser.cookies.has('platform_sign_in')]).toEqual([200, false]);
});

test('AUTH-47 the pages of the second factor lead to no other site, and take no form of one', async () => {
  const { user, app } = await createEnrolled();
  const browser = open();
  await browser.signIn({ email: user.email, password });
  for (const target of ['https://evil.example', '//evil.example', '/\\evil.example'])
    expect(fieldIn(await browser.open(`${VERIFY}?returnTo=${encodeURIComponent(target)}`), 'returnTo')).toBe(
      '/',
    );
  const csrf = fieldIn(await browser.open(VERIFY), 'csrf');
  const code = app.nextCode();
  expect(
    (await browser.post(VERIFY, { csrf, returnTo: '/', code }, { 'sec-fetch-site': 'cross-site' })).status,
  ).toBe(403);
  expect((await browser.post(VERIFY, { csrf: 'x', returnTo: '/', code })).status).toBe(403);
  const done = await browser.post(VERIFY, { csrf, returnTo: '//evil.example', code });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
});

test('AUTH-47 without a sign-in under way, the pages lead to its beginning', async () => {
  for (const path of [VERIFY, SET_UP])
    expect((await open().open(`${path}?returnTo=%2Ftokens`)).headers.get('location')).toBe(
      '/sign-in?returnTo=%2Ftokens',
    );
  const { user, app } = await createEnrolled();
  const browser = open();
  await browser.signIn({ email: user.email, password });
  expect((await browser.open(SET_UP)).headers.get('location')).toBe('/sign-in?returnTo=%2F');
  const csrf = fieldIn(await browser.open(VERIFY), 'csrf');
  phone.advance(10 * 60_000);
  const late = await browser.post(VERIFY, { csrf, returnTo: '/', code: app.nextCode() });
  expect([late.status, late.text]).toEqual([
    401,
    expect.stringContaining('This sign-in has expired: begin again.'),
  ]);
});

test('AUTH-28 a mailed code and a new password do not go round the second factor', async () => {
  const { user, recoveryCodes } = await createEnrolled();
  const browser = open();
  const asked = await browser.open('/sign-in/code');
  await browser.post('/sign-in/code', { csrf: fieldIn(asked, 'csrf'), returnTo: '/', email: user.email });
  const otp = codeIn(await platform.mailTo(user.email, subjects.code));
  const answer = await browser.post('/sign-in/code', {
    csrf: fieldIn(asked, 'csrf'),
    returnTo: '/',
    email: user.email,
    otp,
  });
  expect(answer.headers.get('location')).toContain(VERIFY);
  expect(await status(browser)).toBe(401);

  await platform.post('password/forgot', { email: user.email });
  const token = tokenIn(await platform.mailTo(user.email, subjects.passwordLink));
  expect((await platform.post('password/reset', { token, password: newPassword })).status).toBe(200);
  // The sign-in of the mailed code belongs to the password from before.
  expect((await enterCode(browser, recoveryCodes[0] ?? '', VERIFY)).status).not.toBe(303);
  const next = await browser.signIn({ email: user.email, password: newPassword });
  expect(next.headers.get('location')).toContain(VERIFY);
  expect((await enterCode(browser, recoveryCodes[1] ?? '')).status).toBe(303);
  expect(await status(browser)).toBe(200);
  await platform.mailTo(user.email, /^A recovery code was used for your account$/);
});

test('AUTH-33 where a second factor is required, an invitation and a first sign-in lead to its set-up', async () => {
  const token = await platform.identity.login(admin);
  const settings = (secondFactorRequired: boolean) =>
    platform.identity.call('POST', '/api/v1/configurationManager/signInConfig', { token, body: { codesEnabled: true, secondFactorRequired } });
  const invited = await platform.createUser({});
  const link = linkIn(await platform.mailTo(invited.email, subjects.invitation));
  expect((await settings(true)).status).toBe(200);
  try {
    const browser = open();
    const csrf = fieldIn(await browser.open(link.pathname), 'csrf');
    const secret = new URLSearchParams(link.hash.slice(1)).get('token') ?? '';
    const accepted = await browser.post(link.pathname, { csrf, token: secret, password, fullName: 'Ada Example' });
    expect([accepted.status, accepted.headers.get('location')]).toEqual([303, `${SET_UP}?returnTo=%2F`]);
    expect(await status(browser)).toBe(401);
    const page = await browser.open(SET_UP);
    expect(page.text).toContain('Your organisation requires a second factor');
    const app = phone.install(secretIn(page.text));
    const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', enrolment: fieldIn(page, 'enrolment') };
    const wrong = await browser.post(SET_UP, { ...fields, code: '000000' });
    expect([wrong.status, fieldIn(wrong, 'enrolment')]).toEqual([400, fields.enrolment]);
    const done = await browser.post(SET_UP, { ...fields, code: app.code() });
    expect([done.status, recoveryCodesIn(done.text).length]).toEqual([200, 10]);
    expect([await status(browser), browser.cookies.has('platform_sign_in')]).toEqual([200, false]);
    const again = open();
    expect((await again.signIn({ email: invited.email, password })).headers.get('location')).toContain(VERIFY);
    expect((await enterCode(again, app.nextCode())).status).toBe(303);
  } finally {
    await settings(false);
  }
}); // oxfmt-ignore

test('AUTH-32 AUTH-38 a member is mailed about a passkey: added, perhaps copied, removed, and reset by an administrator', async () => {
  const { identity } = platform;
  const user = await platform.createUser();
  const credentials = { email: user.email, password };
  const token = await identity.login(credentials);
  const { passkey } = await addPasskey(identity, token);
  await platform.mailTo(user.email, /^A passkey was added to your account$/);
  const challenge = await beginChallenge(identity, credentials);
  expect((await signInWith(identity, challenge, passkey, { counter: 0 })).status).toBe(401);
  await platform.mailTo(user.email, /^A passkey of your account may have been copied$/);
  const { body } = await identity.call('GET', '/api/v1/auth/second-factor', { token });
  const id = body.secondFactor.passkeys[0].id as string;
  const proof = await prove(identity, token, passkey);
  expect((await removePasskey(identity, { session: token }, id, proof)).status).toBe(200);
  await platform.mailTo(user.email, /^A passkey of your account was removed$/);
  await addPasskey(identity, token);
  const boss = await identity.login(admin);
  const path = `/api/v1/users/${user.id}/second-factor`;
  expect((await identity.call('DELETE', path, { token: boss })).status).toBe(200);
  await platform.mailTo(user.email, /^The second factor of your account was reset$/);
});
