import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';
import type { Person } from './platform.js';
import { SCREENS } from './screen-list.js';

const ID = '01900000-0000-7000-8000-000000000000';
const ADMINISTRATION = /^\/(crawls|mails|organisation)/;
/** Those that are reached from others. */
const DETAILS = [
  `/crawls/connectors/wiki_1/runs/${ID}`,
  `/mails/${ID}`,
  `/organisation/applications/${ID}`,
  `/organisation/service-accounts/${ID}`,
  `/organisation/mcp-servers/${ID}`,
];
const PATHS = [...SCREENS.map(([path]) => path).filter((path) => ADMINISTRATION.test(path)), ...DETAILS];

describeWith('chromium', 'what the console refuses', () => {
  const using = useConsole();
  let member: Person;

  beforeAll(async () => {
    member = await using.platform.createMember('Mary Member');
  });

  test('a member is told at each address of administrators that it is for them, and nothing is loaded', async () => {
    const page = await using.open('/account', { as: member });
    await page.waitForLoadState('networkidle');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    for (const path of PATHS) {
      await page.goto(using.platform.url + path);
      await page.getByRole('heading', { level: 1, name: 'For administrators' }).waitFor();
      await page.waitForLoadState('networkidle');
      const loaded = requested.filter((one) => one.startsWith('/api/') && !one.endsWith('/users/me'));
      expect([path, loaded]).toEqual([path, []]);
    }
  });

  test('a token that is revoked cannot be changed or rotated any more', async () => {
    const { call } = using.platform;
    const body = { name: 'Lost', scopes: ['user:read'] };
    const { token } = await call<{ token: { id: string } }>('POST', '/api/v1/personal-access-tokens', body);
    const page = await using.open(`/account/tokens/${token.id}`);
    await page.getByRole('button', { name: 'Rotate…' }).waitFor();
    await call('DELETE', `/api/v1/personal-access-tokens/${token.id}`);
    await page.reload();
    await page.getByText('Revoked').first().waitFor();
    for (const name of ['Rotate…', 'Edit…', 'Revoke…'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    await page.getByRole('link', { name: 'My tokens' }).first().click();
    await page.getByRole('radio', { name: 'Revoked' }).click();
    await page.getByRole('row', { name: /Lost/ }).waitFor();
  });

  test('a change that somebody else has made meanwhile is told, and nothing is done twice', async () => {
    const { call } = using.platform;
    const body = { name: 'Raced', scopes: ['user:read'] };
    const { token } = await call<{ token: { id: string } }>('POST', '/api/v1/personal-access-tokens', body);
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'Actions for Raced' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await call('DELETE', `/api/v1/personal-access-tokens/${token.id}`);
    using.allowFaults(/404/);
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('row', { name: /Raced/ }).waitFor({ state: 'detached' });
  });

  test('a session that ends in the schedule of a crawl loses nothing', async () => {
    const page = await using.open('/crawls');
    await page.getByRole('button', { name: 'Schedule a connector' }).click();
    await page.getByRole('button', { name: /Runs$/ }).click();
    await page.getByRole('option', { name: 'By a cron expression' }).click();
    const cron = page.getByRole('textbox', { name: 'Cron expression' });
    await cron.fill('15 3 * * *');
    await page.getByText('At 03:15').waitFor();
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('Your session has ended and nothing was changed.').last().waitFor();
    expect(await cron.inputValue()).toBe('15 3 * * *');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText(/The schedule of .+ is saved\./).waitFor();
  });
});
