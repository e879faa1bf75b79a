import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith, waitFor } from '@platform/testing';
import { copy, findBarriers, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';
import { hasFocus, waitForFocus } from './focus.js';

const TOKENS = '/api/v1/personal-access-tokens';

describeWith('chromium', 'the activity, the audit log, and where events are sent', () => {
  const using = useConsole();
  let receiver: Server;
  let url: string;
  let status = 204;
  const received: string[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        received.push((JSON.parse(body) as { type: string }).type);
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const { call, createMember } = using.platform;
    const ada = await createMember('Ada Lovelace');
    await call('POST', TOKENS, { name: 'CI deploys', scopes: ['user:read'] }, ada);
    const { data } = await call<{ data: { id: string; email: string }[] }>('GET', '/api/v1/users');
    const id = data.find(({ email }) => email === ada.email)?.id;
    await call('PATCH', `/api/v1/users/${id}`, { role: 'admin' });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
  });
  afterAll(async () => {
    await new Promise((resolve) => receiver.close(resolve));
  });

  test('names actors and targets, says what changed, and filters by them, by keyboard alone', async () => {
    const page = await using.open('/activity/audit');
    const changed = page.getByRole('row').filter({ hasText: 'Role changed' });
    await changed.getByText('role: member → admin').waitFor();
    await page.getByRole('row').nth(1).getByRole('button').first().focus();
    while (!(await hasFocus(changed))) await page.keyboard.press('Tab');
    await waitForFocus(page, 'row');
    await page.keyboard.press('Tab');
    await waitForFocus(page, 'Ada Lovelace');
    await page.keyboard.press('Enter');
    await page.waitForURL(/subject=/);
    await page.getByRole('row').filter({ hasText: 'Member added' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Token created' }).waitFor({ state: 'detached' });
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Target: Ada Lovelace: clear the filter' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('row')
      .filter({ hasText: 'Token created' })
      .getByRole('button', { name: 'Ada Lovelace' })
      .click();
    await page.waitForURL(/actor=/);
    // It still names whom it filters by when nothing matches.
    await page.getByRole('button', { name: /Action$/ }).click();
    await page.getByRole('option', { name: 'Organisation created' }).click();
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'By: Ada Lovelace: clear the filter' }).waitFor();
  });

  test('names the connector whose crawls were scheduled', async () => {
    const page = await using.open('/activity/audit');
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('row').nth(1).waitFor();
        return (await page.getByRole('row').getByRole('button', { name: 'Wiki Crawl' }).count()) > 0;
      },
      { what: 'the entry of the schedule' },
    );
  });

  test('exports what is filtered as CSV and as JSON', async () => {
    const page = await using.open('/activity/audit?action=token.created');
    await page.getByRole('row').filter({ hasText: 'Token created' }).waitFor();
    const exportAs = async (item: string) => {
      await page.getByRole('button', { name: 'Export…' }).click();
      const downloading = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: item }).click();
      const download = await downloading;
      return { name: download.suggestedFilename(), content: await readFile(await download.path(), 'utf8') };
    };
    const csv = await exportAs('CSV, for a spreadsheet');
    expect(csv.name).toMatch(/^audit-[0-9-]{10}[.]csv$/);
    expect(csv.content).toMatch(/^createdAt,action,.*\r\n.*,CI deploys,.*\r\n$/);
    await page.getByText('One entry is saved.').waitFor();
    const json = await exportAs('JSON');
    expect(json.name).toMatch(/^audit-[0-9-]{10}[.]json$/);
    expect(JSON.parse(json.content)).toMatchObject([
      { action: 'token.created', actorName: 'Ada Lovelace', subjectName: 'CI deploys' },
    ]);
  });

  test('UI-53 is printed with the times at which it happened, whatever the screen says of them', async () => {
    const page = await using.open('/activity');
    const time = page.locator('time').first();
    await time.waitFor();
    expect(await time.textContent()).toMatch(/ago|now/);
    const print = (media: 'print' | null) => page.emulateMedia({ media });
    const shown = `((time) => [getComputedStyle(time).fontSize, getComputedStyle(time, '::after').content])(document.querySelector('main time'))`;
    expect(await page.evaluate<string[]>(shown)).toEqual([expect.not.stringMatching(/^0px$/), 'none']);
    await print('print');
    const [size, printed] = await page.evaluate<string[]>(shown);
    await print(null);
    expect(size).toBe('0px');
    expect(printed).toMatch(/\d{4}.*\d\d:\d\d:\d\d/);
  });

  test('AUD-6 a webhook is added, tested, and shows what was sent to it, which can be sent again', async () => {
    const page = await using.open('/activity/destinations');
    await page.getByText('Events are sent nowhere').waitFor();
    await page.getByRole('button', { name: 'Add a destination' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill(url);
    await page.getByRole('textbox', { name: 'Description' }).fill('Chat of the security team');
    await page.getByText('Events that are sent: All').click();
    await page.getByText('Token created').click();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Add the destination' }).click();
    expect(await copy(page, 'Secret')).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: url }).click();
    await page.getByRole('heading', { level: 1, name: 'Chat of the security team' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It accepted the test').waitFor();
    expect(received).toEqual(['destination.test']);

    status = 500;
    await using.platform.call('POST', TOKENS, { name: 'agent', scopes: ['kb:read'] });
    const row = page.getByRole('row').filter({ hasText: 'token.created' });
    await row.getByText('Waits').waitFor();
    await row.click();
    await page.getByRole('dialog').getByText('It answered with an HTTP error. Status 500').first().waitFor();
    await expectSoundDialog(page);
    status = 204;
    await page.getByRole('button', { name: 'Send again' }).click();
    await row.getByText('Delivered').waitFor();
  });

  test('UI-50 what happened is told in sentences, by area, as it happens; each has an address', async () => {
    const page = await using.open('/activity');
    const list = page.getByRole('table', { name: 'Activity' });
    await list.getByText('Ada Lovelace created the token CI deploys').waitFor();
    await page.getByRole('radio', { name: 'Crawls' }).click();
    await list.getByText('created the token').first().waitFor({ state: 'detached' });
    await list.getByText('set the schedule of Wiki').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Agents' }).click();
    await page.waitForURL(/about=agents/);
    // What happens while the page is open appears by itself.
    await using.platform.call('POST', TOKENS, { name: 'live', scopes: ['user:read'] });
    await list.getByText('created the token live').click();
    await page.getByRole('heading', { level: 1, name: /created the token live$/ }).waitFor();
    await page.getByText('Request id', { exact: true }).waitFor();
    expect(await page.getByText('"type": "token.created"').isVisible()).toBe(false);
    await page.getByText('As programs read it').click();
    await page.getByText('"type": "token.created"').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: /created the token live$/ }).waitFor();
  });
});
