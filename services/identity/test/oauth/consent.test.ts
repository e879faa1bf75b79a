import { startWithApplication } from './connected-application.js';
import { consent, createAuthorization, createBrowser, refresh } from './flow.js';

const running = await startWithApplication();
const { identity, clientId, browser, connect } = running;
afterAll(() => running.close());

test('the consent page shows the client, its redirect, each scope and the expiry, and cannot be framed', async () => {
  const started = await browser.get(createAuthorization(clientId).url);
  const page = await browser.get(browser.getLocation(started));
  for (const text of [
    'Desk agent',
    '<p class="organisation">',
    '127.0.0.1:33418',
    'See your profile and the members',
    'admin@example.com',
    'machine of your browser',
  ])
    expect(page.text).toContain(text);
  expect(page.text).toMatch(/ends on\s+\d+ \w+ 20\d\d/);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:33418");
  expect(page.text).not.toContain('<script');
});

test('only the scopes that the person ticks are granted, and a refresh gets no more', async () => {
  const { answer } = await connect({ scope: 'user:read' });
  expect(answer.body.scope).toBe('user:read');
  const refreshed = await refresh(identity, clientId, answer.body.refresh_token as string);
  expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'user:read']);
});

test('consent is required every time, and a denial is reported to the application', async () => {
  await connect();
  const target = await consent(browser, createAuthorization(clientId), { decision: 'deny' });
  expect(target.searchParams.get('error')).toBe('access_denied');
});

test('a browser that is not signed in goes to the sign-in page and comes back', async () => {
  const other = createBrowser(identity);
  const started = await other.get(createAuthorization(clientId).url);
  const page = other.getLocation(started);
  const sent = await other.get(page);
  expect([sent.status, other.getLocation(sent)]).toEqual([
    303,
    `/sign-in?returnTo=${encodeURIComponent(page)}`,
  ]);
  await other.signIn();
  expect((await other.get(page)).status).toBe(200);
});

test('a consent page cannot be opened or answered in another browser', async () => {
  const started = await browser.get(createAuthorization(clientId).url);
  const other = createBrowser(identity);
  await other.signIn();
  expect((await other.get(browser.getLocation(started))).status).toBe(400);
  const answered = await browser.post(browser.getLocation(started), {
    decision: 'allow',
    scope: 'user:read',
  });
  expect(answered.status).toBe(403);
});

test('an application that requests more scopes than it has gets those that it has', async () => {
  const asked = { scope: 'user:read kb:read crawl:read crawl:delete' };
  const started = await browser.get(createAuthorization(clientId, asked).url);
  const page = await browser.get(browser.getLocation(started));
  expect(page.text).toContain('<code>crawl:read</code>');
  expect(page.text).not.toMatch(/kb:read|crawl:delete/);
  // A form that claims more changes nothing.
  const { answer } = await connect({ scope: ['user:read', 'kb:read', 'crawl:delete'] }, asked);
  expect([answer.status, answer.body.scope]).toEqual([200, 'user:read']);
});
