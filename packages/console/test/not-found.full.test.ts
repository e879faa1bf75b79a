import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';

describeWith('chromium', 'an address that names nothing (UI-8)', () => {
  const using = useConsole({ isShared: true });

  const details = [
    '/account/tokens',
    '/crawls/connectors/wiki_1/runs',
    '/mails',
    '/organisation/applications',
    '/organisation/service-accounts',
    '/organisation/mcp-servers',
    '/organisation/events/destinations',
  ];
  const addresses = [
    ...details.flatMap((path) => [`${path}/${UNKNOWN}`, `${path}/abc`]),
    '/crawls/connectors/nothing',
    '/crawls/connectors/a%20b%C3%A9',
    `/crawls/connectors/nothing/runs/${UNKNOWN}`,
    '/account/nowhere',
  ];

  test.each(addresses)('%s is not found, and shows nothing else', async (path) => {
    using.allowFaults(/40[04]/);
    const page = await using.open(path);
    const main = page.getByRole('main');
    await main.getByRole('heading', { level: 1, name: 'Not found', exact: true }).waitFor();
    expect(await main.getByRole('heading').count()).toBe(1);
    expect(await main.getByRole('alert').count()).toBe(0);
    expect(await page.title()).toMatch(/^Not found/);
  });

  test('a connector without a schedule is found', async () => {
    const page = await using.open('/crawls/connectors/wiki_1');
    await page.getByText('This connector has no schedule').waitFor();
  });
});
