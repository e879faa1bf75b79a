import { describeWith, type Page, waitFor } from '@platform/testing';
import { useConsole } from './console.js';

describeWith('chromium', 'the getting-started page', () => {
  const using = useConsole();

  /** Lets the page take the steps of the beginning for done. */
  async function skipFirstSteps(page: Page, as = using.platform.admin): Promise<void> {
    const { user } = await using.platform.call<{ user: { id: string } }>(
      'GET',
      '/api/v1/users/me',
      undefined,
      as,
    );
    await page.evaluate(`localStorage.setItem('console.start.${user.id}', 'token call crawl event mail')`);
    await page.reload();
  }

  test('ticks each step off once it has really happened', async () => {
    const { platform } = using;
    const page = await using.open('/');
    const done = page.locator('li[data-done]');
    await page.getByRole('heading', { name: 'Create a token' }).waitFor();
    // The platform itself has told the administrator of the sign-in with a new device.
    const countMails = async () =>
      (await platform.call<{ data: unknown[] }>('GET', '/api/v1/mail/records')).data.length;
    await waitFor(async () => (await countMails()) > 0, { what: 'the notice' });
    await page.reload();
    await page.getByRole('heading', { name: 'Send a mail' }).waitFor();
    expect(await done.allTextContents()).toEqual([]);
    const { token } = await platform.call<{ token: { id: string; accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      { name: 'agent', scopes: ['user:read'] },
    );
    await done.filter({ hasText: 'Create a token' }).waitFor();
    await fetch(`${platform.url}/api/v1/users/me`, {
      headers: { authorization: `Bearer ${token.accessToken}` },
    });
    await done.filter({ hasText: 'Use it' }).waitFor();
    await platform.call('DELETE', `/api/v1/personal-access-tokens/${token.id}`);
    await page.reload();
    await done.filter({ hasText: 'Use it' }).waitFor();
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    await done.filter({ hasText: 'Schedule a crawl' }).waitFor();
    expect(await done.filter({ hasText: 'See its event' }).count()).toBe(0);
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/run');
    await done.filter({ hasText: 'See its event' }).waitFor();
    expect(await done.filter({ hasText: 'Send a mail' }).count()).toBe(0);
    const invitee = { email: 'alan@example.com', fullName: 'Alan Turing' };
    await platform.call('POST', '/api/v1/users', invitee);
    await done.filter({ hasText: 'Send a mail' }).waitFor();
    // Another browser knows of none of them, and finds all done.
    const later = await using.open('/');
    await later.getByText('The last 24 hours').waitFor();
    expect(await later.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  });

  test('shows a member only the steps for members', async () => {
    const member = await using.platform.createMember('Mary Member');
    const page = await using.open('/', { as: member });
    await page.getByRole('heading', { name: 'Create a token' }).waitFor();
    expect(
      await page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name: 'Schedule a crawl' }) })
        .count(),
    ).toBe(0);
  });

  test('says afterwards what needs somebody, and that nothing does', async () => {
    const { platform } = using;
    const member = await platform.createMember('Nobody Needed');
    const page = await using.open('/', { as: member });
    await skipFirstSteps(page, member);
    await page.getByText('Nothing needs you at the moment.').waitFor();

    await platform.call('POST', '/api/v1/users', { email: 'katherine@example.com', fullName: 'Katherine J' });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    const path = '/api/v1/crawlingManager';
    const schedule = { scheduleConfig, worker: 'pull', maxRetries: 0 };
    await platform.call('POST', `${path}/support_2/schedule`, schedule);
    const { data } = await platform.call<{ data: { runId: string } }>('POST', `${path}/support_2/run`);
    const { lease } = await platform.call<{ lease: number }>('POST', `${path}/work/claim`, {
      connectors: ['support_2'],
      worker: 'desk worker',
      waitMs: 0,
    });
    const failure = { lease, state: 'failed', reason: 'The desk refused the password' };
    await platform.call('POST', `${path}/work/${data.runId}/finish`, failure);
    const home = await using.open('/');
    await home.route('**/personal-access-tokens?**', (route) => route.fulfill({ json: { tokens: [] } }));
    await home.evaluate('localStorage.clear()');
    await home.reload();
    await home.getByText('The last 24 hours').waitFor();
    // The first steps hide nothing, and whoever doesn't want them can do without.
    await home.getByRole('heading', { name: 'Create a token' }).waitFor();
    await home.getByRole('button', { name: 'Hide these steps' }).click();
    await home.reload();
    await home.getByText('The last 24 hours').waitFor();
    expect(await home.getByRole('heading', { name: 'Create a token' }).count()).toBe(0);
    const figure = (name: string) => home.locator('.figures > div').filter({ hasText: name }).locator('dd');
    await figure('Crawls failed').getByText('1', { exact: true }).waitFor();
    await waitFor(
      async () => {
        if (Number(await figure('Mails sent').textContent()) > 0) return true;
        await home.reload();
        return false;
      },
      { what: 'a mail' },
    );
    const concerns = home.getByRole('listitem').filter({ has: home.getByRole('link', { name: /^Open: / }) });
    await concerns.filter({ hasText: 'The crawl of Support desk 2 fails' }).waitFor();
    await concerns.filter({ hasText: 'The desk refused the password' }).waitFor();
    // Who has joined needs nobody.
    expect(await concerns.filter({ hasText: 'Nobody Needed' }).count()).toBe(0);
    await concerns.filter({ hasText: 'Katherine J has not accepted' }).getByRole('link').click();
    await home.getByRole('row', { name: /Katherine J/ }).waitFor();
    for (let index = 0; index < 6; index += 1)
      await platform.call('POST', '/api/v1/users', {
        email: `${index}@invited.example.com`,
        fullName: 'Invitee',
      });
    await home.goto(platform.url);
    await home.getByRole('link', { name: /^Open: And \d more: open invitations/ }).click();
    await home.getByRole('row', { name: /Katherine J/ }).waitFor();
  });

  test('tells an administrator of the expiring and the leaked tokens of everybody, and a member of the own ones', async () => {
    const { platform } = using;
    const member = await platform.createMember('Owner Of Tokens');
    const create = async (name: string) =>
      (
        await platform.call<{ token: { accessToken: string } }>(
          'POST',
          '/api/v1/personal-access-tokens',
          { name, scopes: ['user:read'], expiryDays: 30 },
          member,
        )
      ).token.accessToken;
    await create('Ends soon');
    const token = await create('Found in public');
    await platform.call('POST', '/api/v1/personal-access-tokens/leaked', { tokens: [{ token }] });
    const home = await using.open('/');
    await skipFirstSteps(home);
    await waitFor(
      async () => {
        await home.reload();
        await home.getByText('The last 24 hours').waitFor();
        return (await home.getByText('“Found in public” was found in public').count()) > 0;
      },
      { what: 'the leak' },
    );
    const own = await using.open('/', { as: member });
    await own.getByText('“Found in public” was found in public').waitFor();
    const inTwentyDays = Date.now() + 20 * 86_400_000;
    const page = await using.open('/', { as: member });
    await page.clock.setFixedTime(inTwentyDays);
    await skipFirstSteps(page, member);
    await page.getByRole('heading', { name: /“Ends soon” expires on/ }).waitFor();
    const later = await using.open('/');
    await later.clock.setFixedTime(inTwentyDays);
    await skipFirstSteps(later);
    await later.getByRole('heading', { name: /“Ends soon” of Owner Of Tokens expires/ }).waitFor();
    await later.getByRole('link', { name: /^Open: “Ends soon”/ }).click();
    await later.getByRole('row', { name: 'Ends soon' }).waitFor();
  });

  test('says what could not be loaded, rather than that nothing needs anybody', async () => {
    const { platform } = using;
    const member = await platform.createMember('Nobody Knows');
    using.allowFaults(/500|502|ERR_FAILED/);
    const page = await using.open('/', { as: member });
    await page.route('**/api/v1/personal-access-tokens?**', (route) => route.fulfill({ status: 500 }));
    await skipFirstSteps(page, member);
    await page.getByRole('alert').getByText('expiring tokens could not be loaded').waitFor();
    expect(await page.getByText('Nothing needs you').count()).toBe(0);
    await page.unroute('**/api/v1/personal-access-tokens?**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing needs you at the moment.').waitFor();
  });
});
