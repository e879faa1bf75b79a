import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';

describeWith('chromium', 'a list without entries', () => {
  const using = useConsole();

  test.each([
    ['/account/tokens', 'You have no tokens'],
    ['/account/apps', 'No application acts for you'],
    ['/crawls', 'Nothing is scheduled'],
    ['/crawls/queue', 'Nothing is scheduled'],
    ['/crawls/events', 'There are no events yet'],
    ['/organisation/tokens', 'Nobody has a token'],
    ['/organisation/applications', 'No application is registered'],
    ['/organisation/service-accounts', 'There are no service accounts'],
    ['/organisation/mcp-servers', 'No server is mounted'],
    ['/organisation/apps', 'No application acts'],
  ])('at %s says so, and what to do', async (path, title) => {
    const page = await using.open(path);
    const empty = page.locator('.empty').filter({ hasText: title });
    await empty.waitFor();
    expect(await empty.locator('p').textContent()).toMatch(/^[A-Z].{20,}\.$/);
  });
});
