import { findFreePort } from '@platform/embedded';
import { type Browser, describeWith, launchBrowser } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { type OauthUpstream, startOauthUpstream } from './oauth-upstream.js';
import { ALLOW_LOCAL } from './platform.js';
import { createPeople } from './signing-in.js';

/* The whole sign-in at a mounted server, in a real browser: from the console to a page of another site, and back. */

describeWith('chromium', 'the sign-in at a mounted server in a browser', () => {
  let identity: IdentityUnderTest;
  let session: string;
  let upstream: OauthUpstream;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const port = await findFreePort();
    // Another site than that of the authorization server, which is at 127.0.0.1.
    origin = `http://localhost:${port}`;
    identity = await startIdentity({
      environment: { ...ALLOW_LOCAL, PUBLIC_URL: origin },
      port,
      hasConsole: true,
    });
    session = await identity.login();
    upstream = await startOauthUpstream(`${origin}/oauth2/upstream/callback`, { hasPage: true });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await upstream?.close();
    await identity?.close();
  });

  test('MCP-68 a member connects in the console, signs in at the other site, comes back, and is called as that person', async () => {
    const people = createPeople(identity, session);
    const id = await people.mount(upstream.url, upstream);
    const ada = await people.createPerson('ada');
    upstream.become('ada');
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    // No test is judged by its speed.
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text());
    });
    const path = `/account/services/${id}`;
    await page.goto(origin + path);
    await page.getByLabel('E-mail address').fill(ada.email);
    await page.getByLabel('Password').fill(ada.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();

    await page.getByRole('heading', { level: 1, name: 'wiki' }).waitFor();
    await page.getByText('Not connected').waitFor();
    await page.getByRole('button', { name: 'Sign in there', exact: true }).click();
    // The other site: it asks the person, and sees no cookie of the platform.
    await page.getByRole('button', { name: 'Sign in as ada' }).waitFor();
    expect(new URL(page.url()).origin).toBe(upstream.issuer);
    await page.getByRole('button', { name: 'Sign in as ada' }).click();
    await page.waitForURL(`${origin}${path}?signIn=connected`);
    await page.getByText('You are signed in.').waitFor();
    await page.getByText('Connected since').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It works').waitFor();
    expect(JSON.parse(await ada.agent.getText())).toMatchObject({ caller: { sub: 'ada' } });

    // A person who gives no permission comes back, too.
    await page.getByRole('button', { name: 'Sign in there again' }).click();
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('You were not signed in: the service gave no permission.').waitFor();
    expect(JSON.parse(await ada.agent.getText())).toMatchObject({ caller: { sub: 'ada' } });
    expect(faults).toEqual([]);
    await context.close();
  });
});
