import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';

describeWith('chromium', 'a list without entries', () => {
  const using = useConsole({ isShared: true });

  test.each([
    ['/account/tokens', 'You have no tokens', 'Create a token'],
    ['/account/apps', 'No application acts for you', undefined],
    ['/crawls', 'Nothing is scheduled', 'Schedule the first connector'],
    ['/crawls/queue', 'Nothing is scheduled', 'Schedule a connector'],
    ['/crawls/events', 'There are no events yet', 'Schedule a connector'],
    ['/crawls/connectors/wiki_1', 'It has not run yet', 'Schedule a connector'],
    ['/organisation/tokens', 'Nobody has a token', 'Create a token'],
    ['/organisation/applications', 'No application is registered', 'Register an application'],
    ['/organisation/service-accounts', 'There are no service accounts', 'Create a service account'],
    ['/organisation/mcp-servers', 'No server is mounted', 'Mount a server'],
    ['/organisation/apps', 'No application acts', 'Register an application'],
    ['/organisation/sign-in', 'No provider is set up', 'Set up a provider'],
    ['/organisation/sign-in', 'No domain yet', 'Add the first domain'],
    ['/organisation/events/destinations', 'Events are sent nowhere', 'Add the first destination'],
  ])('at %s says so, and what to do', async (path, title, action) => {
    const page = await using.open(path);
    const empty = page.locator('.empty').filter({ hasText: title });
    await empty.waitFor();
    expect(await empty.locator('p').textContent()).toMatch(/^[A-Z].{20,}\.$/);
    const buttons = empty.getByRole('button').or(empty.getByRole('link'));
    expect(await buttons.allTextContents()).toEqual(action === undefined ? [] : [action]);
    if (action === undefined) return;
    await buttons.click();
    await page.getByRole('dialog').waitFor();
  });
});
