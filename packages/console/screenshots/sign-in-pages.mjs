import { Secret, TOTP } from 'otpauth';
import { appFields } from './connect-app.mjs';

const SECURITY = '/sign-in/security';
const SETTINGS = '/api/v1/configurationManager/signInConfig';
const PASSWORD = 'correct-horse-battery';

let people = 0;

/** Calls the API with a session of the administrator. */
async function createCaller(url, admin) {
  const post = (path, body, token) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  const login = await post('/api/v1/auth/login', admin);
  const { accessToken } = await login.json();
  return async (path, body) => {
    const response = await post(path, body, accessToken);
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
}

/**
 * Gives the browser of the page a device that keeps passkeys.
 *
 * @returns what has it answer no more: the page of the sign-in asks for a passkey by itself.
 */
async function addDevice(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const device = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true };
  const options = { ...device, hasUserVerification: true, isUserVerified: true };
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  return () => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
}

/**
 * Goes through the pages on which people sign in, from nothing to a second factor and to an application's consent, and
 * takes a picture of each.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ url: string, admin: object, take: (name: string) => Promise<void> }} options
 */
export async function takeSignInPages(page, { url, admin, take }) {
  const call = await createCaller(url, admin);
  const open = (path) => page.goto(url + path);
  const press = (name) => page.getByRole('button', { name, exact: true }).click();
  const follow = (name) => page.getByRole('link', { name }).click();
  const arrive = (name) => page.getByRole('heading', { level: 1, name }).waitFor();

  async function createMember() {
    const email = `grace.hopper${++people}@example.com`;
    await call('/api/v1/users', { email, fullName: 'Grace Hopper', password: PASSWORD });
    return email;
  }
  async function signIn(email, returnTo, password = PASSWORD) {
    await open(`/sign-in?prompt=login&returnTo=${encodeURIComponent(returnTo)}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await press('Sign in');
  }

  const silenceDevice = await addDevice(page);
  const email = await createMember();
  await open('/sign-in');
  await take('sign-in');
  await signIn(email, '/', 'wrong');
  await page.getByRole('alert').waitFor();
  await take('sign-in-refused');
  await open('/sign-in/code');
  await take('sign-in-code');
  await page.getByLabel('E-mail address').fill(email);
  await press('E-mail me a code');
  await arrive('Enter the code');
  await take('sign-in-enter-code');
  await open('/sign-in/forgot-password');
  await take('forgot-password');
  await open('/sign-in/invite');
  await take('invitation');

  await signIn(email, SECURITY);
  await arrive('Second factor');
  await take('second-factor-none');
  await follow('Add a passkey');
  await arrive('Add a passkey');
  await press('Continue');
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
  await take('new-passkey');
  await press('Create the passkey');
  await arrive('Keep your recovery codes');
  await take('recovery-codes');
  await follow('I have saved them');
  await follow('Set up an authenticator app');
  await press('Continue');
  await page.getByText('No camera?').waitFor();
  await take('new-app');
  const key = ((await page.locator('code').first().textContent()) ?? '').replaceAll(' ', '');
  const code = new TOTP({ secret: Secret.fromBase32(key) }).generate();
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await press('Confirm');
  await arrive('Second factor');
  await take('second-factor');
  await follow(/^Rename/);
  await take('rename-passkey');
  await open('/sign-out');
  await take('sign-out');
  await silenceDevice();
  await signIn(email, SECURITY);
  await arrive('Enter the second factor');
  await take('second-factor-ask');
  await page.getByRole('textbox', { name: 'Code' }).fill('000000');
  await press('Sign in');
  await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
  await take('second-factor-refused');

  await call(SETTINGS, { codesEnabled: true, secondFactorRequired: true });
  const other = await createMember();
  await signIn(other, '/');
  await arrive('Set up a second factor');
  await take('second-factor-required');
  await call(SETTINGS, { codesEnabled: true, secondFactorRequired: false });

  const { application } = await call(
    '/api/v1/oauth-applications',
    appFields('Desk agent', ['user:read', 'kb:read', 'crawl:write']),
  );
  await signIn(await createMember(), '/sign-out');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: application.clientId,
    redirect_uri: 'http://127.0.0.1:4200/callback',
    scope: 'user:read kb:read crawl:write',
    resource: `${url}/mcp`,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'state',
  });
  await open(`/oauth2/authorize?${query}`);
  await take('consent');
}
