import { findFreePort } from '@platform/embedded';
import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { admin } from '../identity.js';
import { codeIn, linkIn, type Platform, startPlatform } from './account-flows/platform.js';
import { password } from './account-flows/users.js';
import { environment, saveProvider, verifyDomain } from './provider/flow.js';
import { type ForeignProvider, startForeignProvider } from './provider/foreign-provider.js';

/*
 * In a real browser, with its virtual authenticator (https://www.w3.org/TR/webauthn-3/#sctn-automation): scripts, the
 * content security policy, passkeys, and what works without JavaScript. What the pages answer is tested without one.
 */

const SECURITY = '/sign-in/security';
const newPassword = 'another-horse-staple';

const PATIENCE_MS = 60_000;

describeWith('chromium', 'the sign-in pages in a browser', () => {
  let platform: Platform;
  let foreign: ForeignProvider;
  let browser: Browser;
  let origin: string;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    const port = await findFreePort();
    // Another site than that of the provider, which is at 127.0.0.1.
    origin = `http://localhost:${port}`;
    platform = await startPlatform({ ...environment, PUBLIC_URL: origin }, { port, hasConsole: true });
    const { identity, session } = platform;
    foreign = await startForeignProvider(`${origin}/sign-in/provider/callback`, { hasPage: true });
    await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
    await saveProvider(identity, session, { issuer: foreign.issuer });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await foreign?.close();
    await platform?.close();
  });
  beforeEach(async () => {
    page = await openPage();
    faults.length = 0;
  });
  afterEach(() => page.context().close());

  async function openPage(options: { readonly javaScriptEnabled?: boolean } = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    // No test is judged by its speed: a busy machine needs longer than Playwright's half minute.
    context.setDefaultTimeout(PATIENCE_MS);
    const opened = await context.newPage();
    // Violations of the content security policy are reported there; an icon that is missing is none.
    opened.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text());
    });
    return opened;
  }
  const open = (path: string) => page.goto(origin + path);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).click();
  const arriveAt = (path: string) => page.waitForURL(origin + path);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const alert = (text: string) => page.getByRole('alert').getByText(text).first().waitFor();
  const listCookies = async () => (await page.context().cookies()).map(({ name }) => name);

  async function signIn(email: string, returnTo: string): Promise<void> {
    await open(`/sign-in?${new URLSearchParams({ returnTo, prompt: 'login' }).toString()}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await press('Sign in');
  }

  /** Calls the API as a script of another page of this origin does. The policy of that page allows it. */
  async function callApi(path: string) {
    const other = await page.context().newPage();
    await other.goto(`${origin}/docs/`);
    // A string, because the types of these tests know no document.
    const answer = await other.evaluate<{ status: number; cookies: string; body: unknown }>(`(async () => {
      const token = /platform_csrf=([^;]+)/.exec(document.cookie)?.[1] ?? '';
      const response = await fetch('${path}', { headers: { 'x-csrf-token': token } });
      return { status: response.status, cookies: document.cookie, body: await response.json() };
    })()`);
    await other.close();
    return answer;
  }

  test('a person signs in with a mailed code or the password, calls the API by cookie, and signs out', async () => {
    const { email } = await platform.createUser();
    await open('/sign-in?returnTo=%2Fhealth%2Flive');
    await follow('E-mail me a code');
    await page.getByLabel('E-mail address').fill(email);
    await press('E-mail me a code');
    await page.getByLabel('Code').fill(codeIn(await platform.mailTo(email, /sign-in code/)));
    await press('Sign in');
    await arriveAt('/health/live');
    const { status, cookies, body } = await callApi('/api/v1/users/me');
    expect([status, body]).toMatchObject([200, { user: { email } }]);
    expect(cookies).not.toContain('platform_session');
    await open('/sign-out');
    await page.getByText(email).waitFor();
    await press('Sign out');
    await page.getByText('You are signed out').waitFor();
    expect(await listCookies()).toEqual(['platform_browser']);
    expect(faults).toEqual([]);

    await open('/sign-in?returnTo=%2Fhealth%2Flive');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('wrong-password');
    await press('Sign in');
    await alert('Invalid e-mail or password');
    await page.getByLabel('Password').fill(password);
    await press('Sign in');
    await arriveAt('/health/live');
  });

  test('the invitation page shows the account and its organisation, clears the address bar, takes a name and a password, and signs in', async () => {
    const { email } = await platform.createUser({});
    await page.goto(linkIn(await platform.mailTo(email, /invited/)).href);
    await page.getByText(email).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.getByText('Example', { exact: false }).first().waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada Example');
    await page.locator('#password').fill(password);
    await page.getByLabel('Show the password').check();
    expect(await page.locator('#password').getAttribute('type')).toBe('text');
    await press('Accept the invitation');
    await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
    expect((await callApi('/api/v1/users/me')).body).toMatchObject({ user: { email } });
    expect(faults).toEqual([]);
  });

  test('the mailed link opens the reset page, which changes the password, and asks for a link that is missing or wrong', async () => {
    const { email } = await platform.createUser();
    await open('/sign-in/forgot-password');
    await page.getByLabel('E-mail address').fill(email);
    await press('E-mail me a link');
    await page.getByText('is on its way').waitFor();
    await page.goto(linkIn(await platform.mailTo(email, /Choose a new password/)).href);
    await page.getByText(email).waitFor();
    await page.locator('#password').fill(newPassword);
    await press('Change the password');
    await page.getByText('Your password is changed').waitFor();
    expect((await platform.post('login', { email, password: newPassword })).status).toBe(200);
    for (const suffix of ['', '?token=x']) {
      await open(`/sign-in/reset-password${suffix}`);
      await page.getByLabel('The link from the e-mail').waitFor();
    }
    expect(faults).toEqual([]);
    await open('/sign-in/reset-password#token=x');
    await page.reload();
    await page.getByText('This link does not work any more').waitFor();
    for (const name of ['Sign in', 'Ask for another link']) await page.getByRole('link', { name }).waitFor();
    await page.getByRole('link', { name: 'Paste the link again' }).click();
    await page.getByLabel('The link from the e-mail').waitFor();
  });

  test('all pages work without JavaScript, by pasting the link', async () => {
    const plain = await openPage({ javaScriptEnabled: false });
    const { email } = await platform.createUser();
    await platform.post('password/forgot', { email });
    const link = linkIn(await platform.mailTo(email, /Choose a new password/));
    await plain.goto(`${origin}/sign-in/reset-password`);
    await plain.getByLabel('The link from the e-mail').fill(link.href);
    await plain.getByRole('button').click();
    await plain.locator('#password').fill(newPassword);
    await plain.getByRole('button').click();
    await plain.getByRole('link', { name: 'Sign in' }).click();
    await plain.getByLabel('E-mail address').fill(email);
    await plain.getByLabel('Password').fill(newPassword);
    await plain.getByRole('button').click();
    await plain.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
    expect((await plain.context().cookies()).map(({ name }) => name)).toContain('platform_session');
    await plain.context().close();
  });

  describe('with a passkey', () => {
    /** The device of the tests answers at once when the browser offers its passkeys in the field of the address. */
    const offerNone = () =>
      page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');

    /** Gives the browser a device that verifies its user. */
    async function addDevice({ isUserVerified = true, isOffered = false } = {}) {
      if (!isOffered) await offerNone();
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const device = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: { ...device, hasUserVerification: true, isUserVerified },
      });
      return { remove: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }) };
    }

    /** Begins on the page of the own second factor, and ends on it. */
    async function addFirst(email: string): Promise<void> {
      await signIn(email, SECURITY);
      await heading('Second factor');
      await follow('Add a passkey');
      await press('Continue');
      await press('Create the passkey');
      await heading('Keep your recovery codes');
      await follow('I have saved them');
      await heading('Second factor');
    }

    test('AUTH-36 a person adds a passkey, signs in with it, renames and removes it', async () => {
      const { email } = await platform.createUser();
      await addDevice();
      await addFirst(email);
      await follow(/^Rename/);
      await page.getByLabel('Name').fill('Laptop');
      await press('Save');
      await page.getByText('The passkey is renamed.').waitFor();

      await page.context().clearCookies();
      await signIn(email, '/api/v1/users/me');
      await heading('Enter the second factor');
      await press('Use a passkey');
      await arriveAt('/api/v1/users/me');

      await open(SECURITY);
      await page.getByText(/last used on/).waitFor();
      await follow('Remove Laptop');
      // The field of the code stays empty, so the passkey proves the person.
      await press('Remove the passkey');
      await page.getByText('The passkey is removed.').waitFor();
      expect(await page.getByRole('listitem').count()).toBe(0);
    });

    test('AUTH-65 a person signs in with a passkey alone: by the button, and by what the browser fills in', async () => {
      const { email } = await platform.createUser();
      const device = await addDevice({ isOffered: true });
      await addFirst(email);
      await page.context().clearCookies();
      await open('/sign-in?returnTo=%2Fapi%2Fv1%2Fusers%2Fme');
      await arriveAt('/api/v1/users/me');
      await page.context().clearCookies();
      await offerNone();
      await open('/sign-in?returnTo=%2Fapi%2Fv1%2Fusers%2Fme');
      await heading('Sign in');
      expect(await page.getByLabel('E-mail address').getAttribute('autocomplete')).toBe('username webauthn');
      await press('Sign in with a passkey');
      await arriveAt('/api/v1/users/me');

      await page.context().clearCookies();
      await device.remove();
      await addDevice({ isUserVerified: false });
      await open('/sign-in');
      await press('Sign in with a passkey');
      await alert('No passkey was used. Try again, or use your password.');
      expect(await listCookies()).not.toContain('platform_session');
      await signIn(email, '/api/v1/users/me');
      await heading('Enter the second factor');
    });

    test('AUTH-36 where a second factor is required, a person sets a passkey up while signing in', async () => {
      const { identity } = platform;
      const { session: boss } = await identity.createOrganisation('owner@pages.example');
      const email = 'member@pages.example';
      const member = { email, fullName: 'Ada Example', password };
      await identity.call('POST', '/api/v1/users', { token: boss, body: member });
      const body = { codesEnabled: true, secondFactorRequired: true };
      await identity.call('POST', '/api/v1/configurationManager/signInConfig', { token: boss, body });
      await addDevice();
      await signIn(email, SECURITY);
      await heading('Set up a second factor');
      await press('Set up a passkey');
      await heading('Keep your recovery codes');
      await follow('I have saved them');
      await heading('Second factor');
      expect(await page.getByRole('link', { name: /^Remove/ }).count()).toBe(0);
    });

    test('AUTH-36 AUTH-37 neither another origin nor a device that is not unlocked signs in, and without JavaScript a code is taken', async () => {
      const { email } = await platform.createUser();
      const device = await addDevice();
      await addFirst(email);
      // The same service under another host name: the browser knows the difference.
      await page.goto(`${origin.replace('localhost', 'phishing.localhost')}/sign-in`);
      const failure = await page.evaluate<string>(`
        navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId: 'localhost' } })
          .then(({ response }) => JSON.parse(new TextDecoder().decode(response.clientDataJSON)).origin, ({ name }) => name)`);
      // Either the browser refuses, or it signs the origin of the page, which identity refuses.
      expect(failure).not.toBe(origin);

      await page.context().clearCookies();
      await signIn(email, SECURITY);
      await device.remove();
      await addDevice({ isUserVerified: false });
      await press('Use a passkey');
      await alert('No passkey was used.');
      await page.getByLabel('Recovery code').fill('0000-0000-0000-0000');
      await press('Sign in');
      await alert('This code is wrong or was used before.');
      expect(await listCookies()).not.toContain('platform_session');

      await page.context().close();
      page = await openPage({ javaScriptEnabled: false });
      await signIn(email, SECURITY);
      await heading('Enter the second factor');
      await page.getByText('Passkeys need JavaScript.').waitFor();
      expect(await page.getByRole('button', { name: 'Use a passkey' }).isVisible()).toBe(false);
      expect(await page.getByLabel('Recovery code').isVisible()).toBe(true);
    });
  });

  describe('with an identity provider', () => {
    async function signInAtProvider(email: string, returnTo: string): Promise<void> {
      await open(`/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
      await follow('Sign in with your organisation');
      await page.getByLabel('E-mail address').fill(email);
      await press('Continue');
      await press('Sign in as Ada');
    }

    /** Creates a member whom the provider knows, and lets them be signed in next. */
    async function createMember(): Promise<string> {
      const { email } = await platform.createUser();
      foreign.people.set(email, { email, email_verified: true });
      foreign.signsIn = { subject: email };
      return email;
    }

    test('IDP-5 leads there and back without JavaScript', async () => {
      const email = await createMember();
      await page.context().close();
      page = await openPage({ javaScriptEnabled: false });
      await signInAtProvider(email, SECURITY);
      await arriveAt(SECURITY);
      await page.getByText(email).waitFor();
      expect(await listCookies()).toContain('platform_session');
    });

    test('IDP-5 IDP-10 leads there and back; a member disconnects in the console, and an administrator does so', async () => {
      const email = await createMember();
      await signInAtProvider(email, '/account');
      const row = page.getByRole('listitem').filter({ hasText: 'Identity provider' });
      await row.getByText(`You sign in with ${new URL(foreign.issuer).host}. Connected since`).waitFor();
      expect(faults).toEqual([]);
      await row.getByRole('button', { name: 'Disconnect…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await page.getByText('Your account is disconnected.').waitFor();
      await row.waitFor({ state: 'detached' });
      await page.context().clearCookies();
      await signInAtProvider(email, '/account');
      await arriveAt('/account');

      await page.context().clearCookies();
      await signIn(admin.email, '/organisation/members');
      const actions = page.getByRole('row').filter({ hasText: email }).getByRole('button');
      await actions.click();
      await page.getByRole('menuitem', { name: 'Disconnect from the identity provider…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await page.getByText('Ada Example is disconnected from the identity provider.').waitFor();
    });
  });
});
