import { findFreePort } from '@platform/embedded';
import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { type IdentityUnderTest, type Member, startIdentity } from '../../identity.js';

/*
 * In a real browser, with its virtual authenticator (https://www.w3.org/TR/webauthn-3/#sctn-automation).
 */

const SECURITY = '/sign-in/security';

describeWith('chromium', 'the pages of passkeys', () => {
  let identity: IdentityUnderTest;
  let browser: Browser;
  let session: string;
  let origin: string;

  beforeAll(async () => {
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    identity = await startIdentity({ port, environment: { PUBLIC_URL: origin } });
    session = await identity.login();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await identity.close();
  });

  /** Opens a browser with a device of its own. */
  async function openDevice(options: { readonly javaScriptEnabled?: boolean } = {}) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const device = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
    const verification = { hasUserVerification: true, isUserVerified: true };
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...device, ...verification },
    });
    return { page, cdp, authenticatorId, close: () => context.close() };
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const alert = (page: Page) => page.getByRole('alert').filter({ hasText: /./ }).first();

  async function signIn(page: Page, { email, password }: Member, returnTo = SECURITY): Promise<void> {
    await page.goto(`${origin}/sign-in?${new URLSearchParams({ returnTo, prompt: 'login' }).toString()}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  async function createPasskey(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Create the passkey' }).click();
  }

  /** Begins on the page of the own second factor, and ends on it. */
  async function addFirst(page: Page, member: Member): Promise<void> {
    await signIn(page, member);
    await heading(page, 'Second factor');
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await createPasskey(page);
    await heading(page, 'Keep your recovery codes');
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await heading(page, 'Second factor');
  }

  test('AUTH-36 a person adds a passkey, signs in with it, renames and removes it', async () => {
    const member = await identity.createMember(session);
    const { page, close } = await openDevice();
    await addFirst(page, member);
    await page.getByRole('link', { name: /^Rename/ }).click();
    await page.getByLabel('Name').fill('Laptop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The passkey is renamed.').waitFor();

    await page.context().clearCookies();
    await signIn(page, member, '/api/v1/users/me');
    await heading(page, 'Enter the second factor');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL(`${origin}/api/v1/users/me`);

    await page.goto(origin + SECURITY);
    await page.getByText(/last used on/).waitFor();
    await page.getByRole('link', { name: 'Remove Laptop' }).click();
    // The field of the code stays empty, so the passkey proves the person.
    await page.getByRole('button', { name: 'Remove the passkey' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    await page.context().clearCookies();
    await signIn(page, member);
    await heading(page, 'Second factor');
    expect(await page.getByRole('listitem').count()).toBe(0);
    await close();
  });

  test('AUTH-36 where a second factor is required, a person sets a passkey up while signing in', async () => {
    const { session: boss } = await identity.createOrganisation('owner@pages.example');
    const member = await identity.createMember(boss);
    const body = { codesEnabled: true, secondFactorRequired: true };
    await identity.call('POST', '/api/v1/configurationManager/signInConfig', { token: boss, body });
    const { page, close } = await openDevice();
    await signIn(page, member);
    await heading(page, 'Set up a second factor');
    await page.getByRole('button', { name: 'Set up a passkey' }).click();
    await heading(page, 'Keep your recovery codes');
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await heading(page, 'Second factor');
    expect(await page.getByRole('link', { name: /^Remove/ }).count()).toBe(0);
    await close();
  });

  test('AUTH-36 a device that a person does not unlock signs nobody in, and a recovery code does', async () => {
    const member = await identity.createMember(session);
    const { page, cdp, authenticatorId, close } = await openDevice();
    await addFirst(page, member);
    await page.context().clearCookies();
    await signIn(page, member);
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', hasUserVerification: true },
    });
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await alert(page).getByText('No passkey was used.').waitFor();
    await page.getByLabel('Recovery code').fill('0000-0000-0000-0000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await alert(page).getByText('This code is wrong or was used before.').waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('platform_session');
    await close();
  });

  test('AUTH-37 a page of another origin can neither make nor use a passkey of the platform', async () => {
    const member = await identity.createMember(session);
    const { page, close } = await openDevice();
    await addFirst(page, member);
    // The same service under another host name: the browser knows the difference.
    await page.goto(`${origin.replace('localhost', 'phishing.localhost')}/sign-in`);
    const failure = await page.evaluate<string>(`
      navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId: 'localhost' } })
        .then(({ response }) => JSON.parse(new TextDecoder().decode(response.clientDataJSON)).origin, ({ name }) => name)`);
    // Either the browser refuses, or it signs the origin of the page, which identity refuses.
    expect(failure).not.toBe(origin);
    await close();
  });

  test('AUTH-36 without JavaScript the pages say what is missing, and take a code', async () => {
    const member = await identity.createMember(session);
    const device = await openDevice();
    await addFirst(device.page, member);
    await device.close();
    const { page, close } = await openDevice({ javaScriptEnabled: false });
    await signIn(page, member);
    await heading(page, 'Enter the second factor');
    await page.getByText('Passkeys need JavaScript.').waitFor();
    expect(await page.getByRole('button', { name: 'Use a passkey' }).isVisible()).toBe(false);
    expect(await page.getByLabel('Recovery code').isVisible()).toBe(true);
    await close();
  });

  test('AUTH-36 the page of the own second factor leads back to where the person came from', async () => {
    const member = await identity.createMember(session);
    const { page, close } = await openDevice();
    await signIn(page, member, '/sign-in/security?returnTo=%2Faccount%3Ftab%3D2');
    const back = () => page.getByRole('link', { name: 'Back' }).getAttribute('href');
    expect(await back()).toBe('/account?tab=2');
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(await back()).toBe('/account?tab=2');
    await page.goto(origin + SECURITY);
    expect(await back()).toBe('/account');
    await page.goto(`${origin}${SECURITY}?returnTo=https%3A%2F%2Fevil.example`);
    expect(await back()).toBe('/');
    await close();
  });
});
