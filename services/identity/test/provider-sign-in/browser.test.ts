import { findFreePort } from '@platform/embedded';
import { type Browser, describeWith, launchBrowser } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { environment, saveProvider, verifyDomain } from './flow.js';
import { type ForeignProvider, startForeignProvider } from './foreign-provider.js';

describeWith('chromium', 'a sign-in with an identity provider in a browser', () => {
  let identity: IdentityUnderTest;
  let foreign: ForeignProvider;
  let browser: Browser;

  beforeAll(async () => {
    const port = await findFreePort();
    // Another site than that of the provider, which is at 127.0.0.1.
    const publicUrl = `http://localhost:${port}`;
    foreign = await startForeignProvider(`${publicUrl}/sign-in/provider/callback`, { hasPage: true });
    identity = await startIdentity({ port, environment: { ...environment, PUBLIC_URL: publicUrl } });
    await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
    await saveProvider(identity, await identity.login(), { issuer: foreign.issuer });
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await identity?.close();
    await foreign?.close();
  });

  test.each([true, false])('IDP-5 leads there and back (with JavaScript: %s)', async (javaScriptEnabled) => {
    const { email } = await identity.createMember(await identity.login());
    foreign.people.set(email, { email, email_verified: true });
    foreign.signsIn = { subject: email };
    const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      await page.goto(
        `http://localhost:${new URL(identity.url).port}/sign-in?returnTo=%2Fsign-in%2Fsecurity`,
      );
      await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
      await page.getByLabel('E-mail address').fill(email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Sign in as Ada' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect([new URL(page.url()).pathname, faults]).toEqual(['/sign-in/security', []]);
      await page.getByText(email).waitFor();
    } finally {
      await context.close();
    }
  });
});
