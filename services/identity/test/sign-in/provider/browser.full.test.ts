import { findFreePort } from '@platform/embedded';
import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { admin, type IdentityUnderTest, startIdentity } from '../../identity.js';
import { environment, saveProvider, verifyDomain } from './flow.js';
import { type ForeignProvider, startForeignProvider } from './foreign-provider.js';

describeWith('chromium', 'a sign-in with an identity provider in a browser', () => {
  let identity: IdentityUnderTest;
  let foreign: ForeignProvider;
  let browser: Browser;
  let publicUrl: string;

  beforeAll(async () => {
    const port = await findFreePort();
    // Another site than that of the provider, which is at 127.0.0.1.
    publicUrl = `http://localhost:${port}`;
    foreign = await startForeignProvider(`${publicUrl}/sign-in/provider/callback`, { hasPage: true });
    identity = await startIdentity({
      port,
      hasConsole: true,
      environment: { ...environment, PUBLIC_URL: publicUrl },
    });
    await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
    await saveProvider(identity, await identity.login(), { issuer: foreign.issuer });
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await identity?.close();
    await foreign?.close();
  });

  async function signIn(page: Page, email: string, returnTo: string): Promise<void> {
    await page.goto(`${publicUrl}/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Sign in as Ada' }).click();
  }

  /** Creates a member whom the provider knows, and lets them be signed in next. */
  async function createMember() {
    const member = await identity.createMember(await identity.login());
    foreign.people.set(member.email, { email: member.email, email_verified: true });
    foreign.signsIn = { subject: member.email };
    return member;
  }

  test.each([true, false])('IDP-5 leads there and back (with JavaScript: %s)', async (javaScriptEnabled) => {
    const { email } = await createMember();
    const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      await signIn(page, email, '/sign-in/security');
      await page.waitForURL(`${publicUrl}/sign-in/security`);
      await page.getByText(email).waitFor();
      expect(faults).toEqual([]);
    } finally {
      await context.close();
    }
  });

  /** Runs steps in a browser of their own. */
  async function inBrowser(run: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    try {
      await run(await context.newPage());
    } finally {
      await context.close();
    }
  }

  test('IDP-10 a member disconnects the own account in the console, and an administrator that of a member', async () => {
    const { email } = await createMember();
    await inBrowser(async (page) => {
      await signIn(page, email, '/account');
      const row = page.getByRole('listitem').filter({ hasText: 'Identity provider' });
      await row.getByText(`You sign in with ${new URL(foreign.issuer).host}. Connected since`).waitFor();
      await row.getByRole('button', { name: 'Disconnect…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByText('Your account is disconnected.').waitFor();
      await row.waitFor({ state: 'detached' });
    });
    await inBrowser(async (page) => {
      await signIn(page, email, '/account');
      // The account is connected by the last step, which is under way.
      await page.waitForURL(`${publicUrl}/account`);
    });
    await inBrowser(async (page) => {
      await page.goto(`${publicUrl}/sign-in?returnTo=%2Forganisation%2Fmembers`);
      await page.getByLabel('E-mail address').fill(admin.email);
      await page.getByLabel('Password').fill(admin.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const actions = page.getByRole('row').filter({ hasText: email }).getByRole('button');
      await actions.click();
      await page.getByRole('menuitem', { name: 'Disconnect from the identity provider…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await page.getByText('Ada Member is disconnected from the identity provider.').waitFor();
      await actions.click();
      await page.getByRole('menuitem', { name: 'Remove…' }).waitFor();
      // The list is loaded again after the announcement.
      await page.getByRole('menuitem', { name: /Disconnect/ }).waitFor({ state: 'detached' });
      expect(await page.getByRole('menuitem', { name: 'Remove…' }).isVisible()).toBe(true);
    });
  });
});
