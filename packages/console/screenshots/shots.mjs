/** The screenshots: a file name, an address, the steps to take there first, and whether a phone shows it, too. */
export const SHOTS = [
  { name: 'start', path: '/', isOnPhone: true },
  { name: 'connect', path: '/connect', isOnPhone: true },
  { name: 'tools', path: '/tools', act: (page) => page.getByRole('table').waitFor() },
  { name: 'tokens', path: '/account/tokens', isOnPhone: true },
  {
    name: 'new-token',
    path: '/account/tokens',
    act: async (page) => {
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Laptop, Codex');
    },
  },
  {
    name: 'account',
    path: '/account',
    isOnPhone: true,
    act: (page) => page.getByText('This session').waitFor(),
  },
  { name: 'apps', path: '/account/apps', isOnPhone: true, act: (page) => page.getByRole('table').waitFor() },
  {
    name: 'crawls',
    path: '/crawls',
    isOnPhone: true,
    act: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'schedule',
    path: '/crawls',
    act: async (page) => {
      await page.getByRole('button', { name: 'Schedule a connector' }).click();
      await page.getByRole('button', { name: /Runs$/ }).click();
      await page.getByRole('option', { name: 'By a cron expression' }).click();
      await page.getByRole('region', { name: 'Next runs' }).getByRole('listitem').nth(9).waitFor();
    },
  },
  {
    name: 'crawl',
    path: '/crawls/connectors/wiki_1',
    act: (page) => page.getByRole('row', { name: /202/ }).first().waitFor(),
  },
  {
    name: 'run',
    path: '/crawls/connectors/files_1',
    isOnPhone: true,
    act: async (page) => {
      await page.getByRole('row', { name: /202/ }).first().click();
      await page.getByRole('heading', { name: 'Run of Cloud files' }).waitFor();
      await page.getByText('eventId').waitFor();
    },
  },
  { name: 'queue', path: '/crawls/queue' },
  { name: 'events', path: '/crawls/sync-events', act: (page) => page.getByRole('table').waitFor() },
  { name: 'mails', path: '/mails', act: (page) => page.getByRole('table').waitFor() },
  {
    name: 'mail',
    path: '/mails?q=grace@',
    isOnPhone: true,
    act: async (page) => {
      await page.getByRole('row', { name: /Your weekly report/ }).click();
      await page.frameLocator('iframe').getByText('Hello').first().waitFor();
    },
  },
  {
    name: 'templates',
    path: '/mails/templates',
    isOnPhone: true,
    act: (page) => page.frameLocator('iframe').getByText('Hello Ada').waitFor(),
  },
  {
    name: 'smtp',
    path: '/mails/smtp',
    act: async (page) => {
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByText('It works').waitFor();
    },
  },
  { name: 'members', path: '/organisation/members', act: (page) => page.getByRole('table').waitFor() },
  { name: 'all-tokens', path: '/organisation/tokens', act: (page) => page.getByRole('table').waitFor() },
  {
    name: 'new-application',
    path: '/organisation/applications',
    act: async (page) => {
      await page.getByRole('button', { name: 'New application' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Desk agent');
    },
  },
  {
    name: 'application',
    path: '/organisation/applications',
    isOnPhone: true,
    act: async (page) => {
      await page.getByRole('row').filter({ hasText: 'Nightly reports' }).click();
      await page.getByRole('button', { name: 'New secret…' }).waitFor();
    },
  },
  {
    name: 'service-account',
    path: '/organisation/service-accounts',
    act: async (page) => {
      await page.getByRole('row').filter({ hasText: 'Nightly export' }).click();
      await page.getByRole('table', { name: 'Tokens' }).waitFor();
    },
  },
  {
    name: 'service-account-token',
    path: '/organisation/service-accounts',
    act: async (page) => {
      await page.getByRole('row').filter({ hasText: 'Nightly export' }).click();
      await page.getByRole('button', { name: 'Actions for Export host', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor();
    },
  },
  {
    name: 'token-policy',
    path: '/organisation/token-policy',
    act: async (page) => {
      await page.getByRole('button', { name: 'Change the policy…' }).click();
      await page.getByText('Limit the lifetime of tokens').click();
      await page.getByRole('button', { name: 'Check what it affects' }).click();
      await page.getByRole('region', { name: /not within this policy/ }).waitFor();
    },
  },
  {
    name: 'mcp-servers',
    path: '/organisation/mcp-servers',
    act: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'mcp-tool',
    path: '/organisation/mcp-servers',
    isOnPhone: true,
    act: async (page) => {
      await page.getByRole('row').filter({ hasText: 'wiki' }).click();
      await page.getByRole('button', { name: 'Actions for page_search' }).click();
      await page.getByRole('menuitem', { name: 'Review…' }).click();
      await page.getByRole('button', { name: 'Approve this definition' }).waitFor();
    },
  },
  { name: 'all-apps', path: '/organisation/apps', act: (page) => page.getByRole('table').waitFor() },
  {
    name: 'activity',
    path: '/activity',
    isOnPhone: true,
    act: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'audit',
    path: '/activity/audit',
    isOnPhone: true,
    act: (page) => page.getByRole('table').waitFor(),
  },
];
