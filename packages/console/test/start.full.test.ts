import { describeWith, type Page, waitFor } from '@platform/testing';
import { findBarriersInLooks, useConsole } from './console.js';

const TOKENS = '/api/v1/personal-access-tokens';
const CRAWLS = '/api/v1/crawlingManager';
const DAY_MS = 86_400_000;

describeWith('chromium', 'the getting-started page', () => {
  const using = useConsole();

  /** Lets the page take the steps of the beginning for done. */
  async function skipFirstSteps(page: Page, as = using.platform.admin): Promise<void> {
    type Me = { user: { id: string } };
    const { user } = await using.platform.call<Me>('GET', '/api/v1/users/me', undefined, as);
    await page.evaluate(`localStorage.setItem('console.start.${user.id}', 'token call crawl event mail')`);
    await page.reload();
  }

  test('ticks each step off once it has really happened, and keeps it when what it made is removed', async () => {
    const { url, call } = using.platform;
    const page = await using.open('/');
    const done = page.locator('li[data-done]');
    await page.getByRole('heading', { name: 'Create a token' }).waitFor();
    // The platform itself has notified the administrator of the sign-in with a new device.
    await waitFor(
      async () => (await call<{ data: unknown[] }>('GET', '/api/v1/mail/records')).data.length > 0,
      { what: 'the notice' },
    );
    await page.reload();
    await page.getByRole('heading', { name: 'Send a mail' }).waitFor();
    expect(await done.allTextContents()).toEqual([]);
    const { token } = await call<{ token: { id: string; accessToken: string } }>('POST', TOKENS, {
      name: 'agent',
      scopes: ['user:read'],
    });
    // The page asks again by itself.
    await done.filter({ hasText: 'Create a token' }).waitFor();
    await fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${token.accessToken}` } });
    await page.reload();
    await done.filter({ hasText: 'Connect an agent' }).waitFor();
    await call('DELETE', `${TOKENS}/${token.id}`);
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', `${CRAWLS}/wiki_1/schedule`, { scheduleConfig });
    await page.reload();
    await done.filter({ hasText: 'Schedule a crawl' }).waitFor();
    expect(await done.filter({ hasText: 'See its event' }).count()).toBe(0);
    await call('DELETE', `${CRAWLS}/wiki_1/schedule`);
    await page.reload();
    await done.filter({ hasText: 'Connect an agent' }).waitFor();
    await done.filter({ hasText: 'Schedule a crawl' }).waitFor();

    await call('POST', `${CRAWLS}/wiki_1/schedule`, { scheduleConfig });
    await call('POST', `${CRAWLS}/wiki_1/run`);
    await page.reload();
    await done.filter({ hasText: 'See its event' }).waitFor();
    expect(await done.filter({ hasText: 'Send a mail' }).count()).toBe(0);
    await call('POST', '/api/v1/users', { email: 'alan@example.com', fullName: 'Alan Turing' });
    await done.filter({ hasText: 'Send a mail' }).waitFor();
    // Another browser knows of none of them, and finds all done.
    const later = await using.open('/', { isNewBrowser: true });
    await later.getByText('The last 24 hours').waitFor();
    expect(await later.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  });

  test('shows a member the own steps, then that nothing needs anybody, or what could not be loaded', async () => {
    const member = await using.platform.createMember('Nobody Needed');
    const page = await using.open('/', { as: member });
    await page.getByRole('heading', { name: 'Create a token' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Schedule a crawl' }).count()).toBe(0);
    using.allowFaults(/500/);
    await page.route(`**${TOKENS}?**`, (route) => route.fulfill({ status: 500 }));
    await skipFirstSteps(page, member);
    await page.getByRole('alert').getByText('expiring tokens could not be loaded').waitFor();
    expect(await page.getByText('Nothing needs you').count()).toBe(0);
    await page.unroute(`**${TOKENS}?**`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing needs you at the moment.').waitFor();
  });

  test('UI-43 says afterwards what needs somebody, and leads there', async () => {
    const { call, url } = using.platform;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', `${CRAWLS}/support_2/schedule`, { scheduleConfig, worker: 'pull', maxRetries: 0 });
    const { data } = await call<{ data: { runId: string } }>('POST', `${CRAWLS}/support_2/run`);
    const claim = { connectors: ['support_2'], worker: 'desk worker', waitMs: 0 };
    const { lease } = await call<{ lease: string }>('POST', `${CRAWLS}/work/claim`, claim);
    const failure = { lease, state: 'failed', reason: 'The desk refused the password' };
    await call('POST', `${CRAWLS}/work/${data.runId}/finish`, failure);
    for (let index = 0; index < 7; index += 1)
      await call('POST', '/api/v1/users', { email: `${index}@invited.example.com`, fullName: 'Katherine J' });

    const page = await using.open('/', { isNewBrowser: true });
    await page.route(`**${TOKENS}?**`, (route) => route.fulfill({ json: { tokens: [] } }));
    await page.evaluate('localStorage.clear()');
    await page.reload();
    await page.getByText('The last 24 hours').waitFor();
    // The first steps hide nothing, and whoever doesn't want them can do without.
    await page.getByRole('heading', { name: 'Create a token' }).waitFor();
    await page.getByRole('button', { name: 'Hide these steps' }).click();
    await page.reload();
    await page.getByText('The last 24 hours').waitFor();
    expect(await page.getByRole('heading', { name: 'Create a token' }).count()).toBe(0);
    const figure = (name: string) => page.locator('.figures > div').filter({ hasText: name }).locator('dd');
    await figure('Crawls failed').getByText('1', { exact: true }).waitFor();
    await waitFor(
      async () => {
        if (Number(await figure('Mails sent').textContent()) > 0) return true;
        await page.reload();
        return false;
      },
      { what: 'a mail' },
    );
    const concerns = page.locator('.concerns > li');
    await concerns.filter({ hasText: 'The crawl of Support desk 2 fails' }).waitFor();
    await concerns.filter({ hasText: 'The desk refused the password' }).waitFor();
    // UI-43: an open invitation needs nobody until it lapses soon; then a cause is one line, however many things it concerns.
    expect(await concerns.filter({ hasText: 'invitation' }).count()).toBe(0);
    await using.platform.ageInvitations('Katherine J');
    await page.reload();
    await concerns.filter({ hasText: '7 invitations lapse within two days' }).waitFor();
    await page.locator('.home-answer').getByText(/^Your knowledge is \d+ minutes? old\.$/).waitFor();
    await page.locator('.home-answer').getByText('Everything is up.').waitFor();
    // GRP-7: in the words of the answers, on the page of the connector as well.
    await page.getByText(/^support_2 has not been crawled yet; crawls fail since \w+day\.$/).waitFor();
    await page.getByRole('link', { name: 'All sources' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Support desk 2' }).getByText('Failing').waitFor();
    await page.getByRole('link', { name: 'Support desk 2', exact: true }).click();
    await page.getByText(/^support_2 has not been crawled yet; crawls fail since/).waitFor();
    await page.goto(url);
    // Who has joined needs nobody.
    expect(await concerns.filter({ hasText: 'Nobody Needed' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Invite again: 7 invitations lapse within two days' }).click();
    await page.getByRole('row', { name: /Katherine J/ }).first().waitFor();
  }); // oxfmt-ignore

  test('UI-43 says of crawls that no worker claims since when they wait, on one line, and leads to where one is connected', async () => {
    const { call } = using.platform;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    for (const connector of ['files_2', 'files_3']) await call('POST', `${CRAWLS}/${connector}/schedule`, { scheduleConfig, worker: 'pull' });
    type Schedules = { data: { data: { connector: string } }[] };
    const all = await call<Schedules>('GET', `${CRAWLS}/schedule/all`);
    const show = (page: Page, connectors: readonly string[], minutes: number) =>
      page.route('**/schedule/all', (route) =>
        route.fulfill({
          json: {
            ...all,
            data: all.data
              .filter(({ data }) => connectors.includes(data.connector))
              .map((schedule) => ({
                ...schedule,
                overdueSince: new Date(Date.now() - minutes * 60_000).toISOString(),
                standstill: { code: 'no_worker', message: '' },
              })),
          },
        }),
      );
    const page = await using.open('/', { isNewBrowser: true });
    await show(page, ['files_2'], 6.5);
    await page.reload();
    const line = page.locator('.concerns > li').filter({ hasText: 'overdue' });
    await line.getByText('The crawl of Cloud files 2 is overdue').waitFor();
    await line.getByText('No worker has claimed it for 6 minutes.').waitFor();
    await show(page, ['files_2', 'files_3'], 125);
    await page.reload();
    await line.getByText('2 crawls are overdue').waitFor();
    await line.getByText('No worker has claimed them for up to 2 hours.').waitFor();
    await line.getByRole('link', { name: 'Connect one: 2 crawls are overdue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Crawls' }).waitFor();
    for (const connector of ['files_2', 'files_3']) await call('DELETE', `${CRAWLS}/${connector}/schedule`);
  }); // oxfmt-ignore

  test('AUTH-67 offers a passkey to whoever has none, until they decline', async () => {
    const lin = await using.platform.createMember('Lin Keyless');
    const page = await using.open('/', { as: lin, isNewBrowser: true });
    const offer = page.getByRole('complementary', { name: 'Sign in without a password next time' });
    expect(await offer.getByRole('link', { name: 'Set up a passkey' }).getAttribute('href')).toBe('/sign-in/security?returnTo=/');
    expect(await findBarriersInLooks(page)).toEqual([]);
    await offer.getByRole('button', { name: 'Not now' }).click();
    await offer.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('No agent of yours has called today.').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await offer.count()).toBe(0);
  }); // oxfmt-ignore

  test('UI-43 begins with an answer: the age of the knowledge, the calls of the day and of the week, and what is up', async () => {
    const { call, url, createMember } = using.platform;
    const ada = await createMember('Ada Agent');
    const { token } = await call<{ token: { id: string; accessToken: string } }>('POST', TOKENS, { name: 'agent', scopes: ['user:read'] }, ada);
    const callTool = (name: string) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
      });
    for (const name of ['whoami', 'whoami', 'list_my_tokens']) await callTool(name);
    const page = await using.open('/', { as: ada, isNewBrowser: true });
    const answer = page.locator('.home-answer');
    await waitFor(async () => {
      await page.reload();
      await answer.getByRole('img').waitFor();
      return answer.getByText('Your agent made 3 calls today, of which 1 failed.').isVisible();
    }, { what: 'the calls' });
    expect(await answer.getByRole('img').getAttribute('aria-label')).toMatch(/^Calls a day: (\w+ 0, ){6}\w+ 3$/);
    expect(await answer.getByText('Everything is up.').count()).toBe(0);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await call('DELETE', `${TOKENS}/${token.id}`, undefined, ada);
    const admin = await using.open('/', { isNewBrowser: true });
    await skipFirstSteps(admin);
    await admin.locator('.home-answer').getByText(/^(1 agent|\d agents) made \d+ calls today, of which \d failed\.$/).or(admin.locator('.home-answer').getByText('Everything is up.')).first().waitFor();
    using.allowFaults(/503/);
    await admin.route('**/api/v1/mail/records?**', (route) => route.fulfill({ status: 503 }));
    await admin.reload();
    await admin.locator('.home-answer').getByText('Mail does not answer.').waitFor();
    await admin.setViewportSize({ width: 360, height: 800 });
    expect(await admin.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
    expect(await findBarriersInLooks(admin)).toEqual([]);
  }); // oxfmt-ignore

  test('shows an administrator the expiring and leaked tokens of everybody, and a member their own', async () => {
    const { call, createMember } = using.platform;
    const member = await createMember('Owner Of Tokens');
    const create = async (name: string) => {
      const fields = { name, scopes: ['user:read'], expiryDays: 30 };
      return (await call<{ token: { accessToken: string } }>('POST', TOKENS, fields, member)).token
        .accessToken;
    };
    await create('Ends soon');
    const token = await create('Found in public');
    await call('POST', `${TOKENS}/leaked`, { tokens: [{ token }] });
    const expectTold = async (as: typeof member, expiring: RegExp): Promise<Page> => {
      const page = await using.open('/', { as, isNewBrowser: true });
      await skipFirstSteps(page, as);
      await waitFor(
        async () => {
          await page.reload();
          await page.locator('main h1').waitFor();
          return page.getByText('“Found in public” was found in public').isVisible();
        },
        { what: 'the leak' },
      );
      await page.clock.setFixedTime(Date.now() + 20 * DAY_MS);
      await page.reload();
      await page.getByRole('heading', { name: expiring }).waitFor();
      return page;
    };
    await expectTold(member, /“Ends soon” expires on/);
    const page = await expectTold(using.platform.admin, /“Ends soon” of Owner Of Tokens expires/);
    await page.getByRole('link', { name: /^Open: “Ends soon”/ }).click();
    await page.getByRole('row', { name: 'Ends soon' }).waitFor();
  });
});
