import { readFile } from 'node:fs/promises';
import { describeWith, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { hasFocus, waitForFocus } from './focus.js';
import type { Person } from './platform.js';

describeWith('chromium', 'the screen of the audit log', () => {
  const using = useConsole();
  let ada: Person;

  beforeAll(async () => {
    ada = await using.platform.createMember('Ada Lovelace');
    const body = { name: '=CI "deploys"', scopes: ['user:read'] };
    await using.platform.call('POST', '/api/v1/personal-access-tokens', body, ada);
    const { data } = await using.platform.call<{ data: { id: string; email: string }[] }>(
      'GET',
      '/api/v1/users',
    );
    const id = data.find(({ email }) => email === ada.email)?.id;
    await using.platform.call('PATCH', `/api/v1/users/${id}`, { role: 'admin' });
  });

  test('names actors and targets, says what changed, and filters by them, by keyboard alone', async () => {
    const page = await using.open('/organisation/audit');
    const changed = page.getByRole('row').filter({ hasText: 'Role changed' });
    await changed.getByText('role: member → admin').waitFor();
    expect(await findBarriers(page)).toEqual([]);
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
    await page.getByRole('row').filter({ hasText: 'Token created' }).getByText('Ada Lovelace').waitFor();
    await page.getByLabel('From', { exact: true }).fill('2020-01-01');
    await page.getByLabel('Until').fill('2020-01-02');
    await page.getByText('Nothing matches').waitFor();
  });

  test('names the connector whose crawls were scheduled', async () => {
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await using.platform.call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    const page = await using.open('/organisation/audit');
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('row').nth(1).waitFor();
        return (await page.getByRole('row').getByRole('button', { name: 'Wiki Crawl' }).count()) > 0;
      },
      { what: 'the entry of the schedule' },
    );
  });

  test('still names whom it filters by when nothing matches', async () => {
    const page = await using.open('/organisation/audit');
    await page
      .getByRole('row')
      .filter({ hasText: 'Token created' })
      .getByRole('button', { name: 'Ada Lovelace' })
      .click();
    await page.waitForURL(/actor=/);
    await page.getByRole('button', { name: /Action$/ }).click();
    await page.getByRole('option', { name: 'Organisation created' }).click();
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'By: Ada Lovelace: clear the filter' }).waitFor();
  });

  const exportAs = async (item: string) => {
    const page = await using.open('/organisation/audit?action=token.created');
    await page.getByRole('row').filter({ hasText: 'Token created' }).waitFor();
    await page.getByRole('button', { name: 'Export…' }).focus();
    await page.keyboard.press('Enter');
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: item }).press('Enter');
    const download = await downloading;
    await page.getByText('One entry is saved.').waitFor();
    return { name: download.suggestedFilename(), content: await readFile(await download.path(), 'utf8') };
  };

  test('exports what is filtered as CSV that a spreadsheet does not run', async () => {
    const { name, content } = await exportAs('CSV, for a spreadsheet');
    expect(name).toMatch(/^audit-[0-9-]{10}[.]csv$/);
    const [header, row, ...others] = content.trimEnd().split('\r\n');
    expect(header).toMatch(/^createdAt,action,actorId,actorName/);
    expect(row).toContain(`,"'=CI ""deploys""",`);
    expect(others).toEqual([]);
  });

  test('exports what is filtered as JSON', async () => {
    const { name, content } = await exportAs('JSON');
    expect(name).toMatch(/^audit-[0-9-]{10}[.]json$/);
    expect(JSON.parse(content)).toMatchObject([
      { action: 'token.created', actorName: 'Ada Lovelace', subjectName: '=CI "deploys"' },
    ]);
  });
});
