import { describeWith } from '@platform/testing';
import { copy, findBarriers, findBarriersInLooks, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';
import { waitForFocusIn } from './focus.js';

const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };

describeWith('chromium', 'the screens of crawls', () => {
  const using = useConsole();
  afterEach(() => using.platform.call('DELETE', '/api/v1/crawlingManager/schedule/all'));

  test('schedules a connector with the next runs shown while typing, runs it, and removes it', async () => {
    const page = await using.open('/crawls');
    await page.getByText('Nothing is scheduled').waitFor();
    await page.getByRole('button', { name: 'Schedule a connector' }).click();
    await page.getByRole('button', { name: /Runs$/ }).click();
    await page.getByRole('option', { name: 'On a day of the month' }).click();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Berlin');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await page.getByText('Clocks change in Europe/Berlin').first().waitFor();
    await page.getByRole('button', { name: /Runs$/ }).click();
    await page.getByRole('option', { name: 'By a cron expression' }).click();
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 * * *');
    await page.getByText('At 02:30').waitFor();
    const preview = page.getByRole('region', { name: 'Next runs' });
    await preview.getByText(/02:30/).nth(9).waitFor();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('The schedule of Mailbox is saved.').waitFor();
    const row = page.getByRole('row', { name: /Mailbox/ });
    await row.getByText('Scheduled').waitFor();
    await row.getByText('At 02:30, Europe/Berlin').waitFor();

    await page.getByRole('button', { name: 'Actions for Mailbox' }).click();
    await page.getByRole('menuitem', { name: 'Run now' }).click();
    await row.getByText('Event published').waitFor();
    await row.getByRole('img', { name: '1 of the last 1 runs completed' }).waitFor();

    await page.getByRole('button', { name: 'Actions for Mailbox' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await page.getByRole('heading', { name: 'Remove the schedule of Mailbox?' }).waitFor();
    // What is removed lets go of its dialog, although the list is still being loaded again.
    let reload = (): void => undefined;
    const isClosed = new Promise<void>((resolve) => (reload = resolve));
    await page.route('**/schedule/all**', async (route) => {
      if (route.request().method() === 'GET') await isClosed;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Remove schedule' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    reload();
    await page.getByText('Nothing is scheduled').waitFor();
  });

  test('says what is wrong with an expression, and saves nothing', async () => {
    using.allowFaults(/400/);
    const page = await using.open('/crawls');
    await page.getByRole('button', { name: 'Schedule a connector' }).click();
    await page.getByRole('button', { name: /Runs$/ }).click();
    await page.getByRole('option', { name: 'By a cron expression' }).click();
    const cron = page.getByRole('textbox', { name: 'Cron expression' });
    await cron.fill('99 * * * *');
    await page
      .getByText(/ranges and steps from 0 to 59/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Save schedule' }).click();
    const field = page.locator('.field').filter({ has: cron });
    await field.getByText(/ranges and steps from 0 to 59/).waitFor();
    expect(await cron.getAttribute('aria-invalid')).toBe('true');
    await waitForFocusIn(cron);
    expect(await page.getByRole('alert').getByText('ranges and steps').count()).toBe(0);
    await cron.fill('30 2 * *');
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await field.getByText('It has five fields').waitFor();
  });

  test('says at the field what the platform finds wrong with it', async () => {
    using.allowFaults(/400/);
    const page = await using.open('/crawls');
    let error = { code: 'VALIDATION_ERROR', details: '' };
    await page.route('**/schedule', (route) =>
      route.fulfill({
        status: 400,
        json: { success: false, message: 'Invalid schedule configuration', error },
      }),
    );
    // The form can send none of these by itself.
    for (const [field, message, role, name] of [
      ['timezone', 'is not an IANA time zone', 'combobox', 'Time zone'],
      ['scheduleType', 'never fires within the next 5 years', 'button', /Runs$/],
      ['jitterMs', 'must be <= 1000', 'textbox', 'Jitter in minutes'],
    ] as const) {
      await page.goto(`${using.platform.url}/crawls?do=new`);
      error = { ...error, details: `scheduleConfig.${field}: ${message}` };
      await page.getByRole('button', { name: 'Save schedule' }).click();
      const control = page.getByRole(role, { name });
      await page.locator('.field').filter({ has: control }).getByText(new RegExp(message, 'i')).waitFor();
      expect(await page.getByRole('alert').getByText(message).count()).toBe(0);
      await waitForFocusIn(control);
    }
  });

  test('pauses and resumes several at once, by keyboard', async () => {
    for (const connector of ['wiki_1', 'chat_1'])
      await using.platform.call('POST', `/api/v1/crawlingManager/${connector}/schedule`, { scheduleConfig });
    const page = await using.open('/crawls');
    await page.getByRole('checkbox', { name: 'Select all' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /Wiki/ }).getByText('Paused').waitFor();
    await page
      .getByRole('row', { name: /Team chat/ })
      .getByText('Paused')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Run now' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('row', { name: /Team chat/ })
      .getByText('Scheduled')
      .waitFor();
  });

  test('shows the events of connectors, filtered by keyboard, and the last hour of the queue', async () => {
    const page = await using.open('/crawls');
    for (const connector of ['db_1', 'issues_1']) {
      await using.platform.call('POST', `/api/v1/crawlingManager/${connector}/schedule`, { scheduleConfig });
      await using.platform.call('POST', `/api/v1/crawlingManager/${connector}/run`);
    }
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Sync events' }).click();
    const events = page.getByRole('table', { name: 'Sync events' });
    await events.getByText('Spreadsheet database').waitFor();
    await events.getByText('Issue tracker').waitFor();
    await page.getByRole('button', { name: /Connector$/ }).focus();
    await page.keyboard.press('Enter');
    await waitForFocusIn(page.getByRole('listbox'));
    await page.keyboard.type('Spreadsheet database');
    await page.keyboard.press('Enter');
    await page.waitForURL(/connector=db_1/);
    await events.getByText('Issue tracker').waitFor({ state: 'detached' });
    const shown = events.getByRole('row').filter({ hasText: 'SyncDb1Event' });
    await shown.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('"connector": "db_1"').waitFor();
    await expectSoundDialog(page);
    await page.keyboard.press('Escape');
    await shown.locator(':focus').waitFor();

    await page.getByRole('link', { name: 'Queue' }).click();
    await page.getByText('Completed in total').waitFor();
    await page.getByRole('img', { name: /^In the last hour [1-9]/ }).waitFor();
    await page
      .getByRole('row', { name: /Spreadsheet database/ })
      .getByText('Scheduled')
      .waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
  });

  test('says that the connectors could not be loaded, and offers them once they are', async () => {
    using.allowFaults(/Failed to load resource/);
    const page = await using.open('/crawls');
    await page.route('**/api/v1/crawlingManager/connectors', (route) => route.abort());
    await page.getByRole('button', { name: 'Schedule a connector' }).click();
    const dialog = page.getByRole('dialog');
    const again = dialog.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await dialog.getByRole('button', { name: 'Save schedule' }).isDisabled()).toBe(true);
    await page.unroute('**/api/v1/crawlingManager/connectors');
    await again.click();
    await dialog.getByRole('button', { name: /Connector$/ }).click();
    await page.getByRole('option', { name: 'Support desk 2' }).click();
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('The schedule of Support desk 2 is saved.').waitFor();
  });

  test('schedules another one of a connector under a name, runs it, and removes it', async () => {
    await using.platform.call('POST', '/api/v1/crawlingManager/cloud_1/schedule', { scheduleConfig });
    const page = await using.open('/crawls?do=new');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /Connector$/ }).click();
    await page.getByRole('option', { name: 'Cloud account: another one' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Sales account');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('The schedule of Sales account is saved.').waitFor();
    const row = page.getByRole('row', { name: /Sales account/ });
    await page.getByRole('row', { name: /Cloud account/ }).waitFor();
    await page.getByRole('button', { name: 'Actions for Sales account' }).click();
    await page.getByRole('menuitem', { name: 'Run now' }).click();
    await row.getByText('Event published').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Sales account' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/cloud_1(:|%3A)sales-account$/);
    await page.getByRole('row').filter({ hasText: 'Event published' }).click();
    await page.getByRole('heading', { name: 'Run of Sales account' }).waitFor();
    await page.getByText('"connectorInstance": "sales-account"').waitFor();
    await page.getByRole('link', { name: 'Crawls', exact: true }).click();
    await page.getByRole('button', { name: 'Actions for Sales account' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Remove schedule' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /Cloud account/ }).waitFor();
  });

  test('adds a hook, which accepts what has its secret alone, and removes it', async () => {
    await using.platform.call('POST', '/api/v1/crawlingManager/code_1/schedule', { scheduleConfig });
    const page = await using.open('/crawls/connectors/code_1');
    await page.getByRole('button', { name: 'Add the first hook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /Source$/ }).click();
    await page.getByRole('option', { name: 'A script' }).click();
    await dialog.getByText('It sends the secret as a bearer token.').waitFor();
    await dialog.getByRole('textbox', { name: 'Description' }).fill('The nightly build');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Address and secret of the hook' }).waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    const address = await copy(page, 'Address');
    const secret = await copy(page, 'Secret');
    await dialog.getByRole('button', { name: 'Done' }).click();
    const ring = async (bearer: string) =>
      (await fetch(address, { method: 'POST', headers: { authorization: `Bearer ${bearer}` } })).status;
    const row = page.getByRole('row', { name: /The nightly build/ });
    await row.getByText('None yet').waitFor();
    expect([await ring(secret), await ring(`${secret}x`)]).toEqual([202, 401]);
    await page.reload();
    await row.getByText('None yet').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Actions for The nightly build' }).click();
    await page.getByRole('menuitem', { name: 'Replace the secret…' }).click();
    await dialog.getByRole('textbox', { name: /has made a secret/ }).fill('a secret of the build server');
    await dialog.getByRole('button', { name: 'Replace the secret' }).click();
    await dialog.getByText('without spaces').waitFor();
    await dialog.getByRole('textbox', { name: /has made a secret/ }).fill('secret-of-the-build-server');
    await dialog.getByRole('button', { name: 'Replace the secret' }).click();
    expect(await copy(page, 'Secret')).toBe('secret-of-the-build-server');
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await ring('secret-of-the-build-server')).toBe(202);

    await page.getByRole('button', { name: 'Actions for The nightly build' }).click();
    await page.getByRole('menuitem', { name: 'Show the address…' }).click();
    expect(await copy(page, 'Address')).toBe(address);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Actions for The nightly build' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove the hook' }).click();
    await page.getByText('There are no hooks').waitFor();
    expect(await ring(secret)).toBe(401);
  });

  test('registers an endpoint, which a schedule keeps when it is changed', async () => {
    const page = await using.open('/crawls/endpoints');
    await page.getByRole('heading', { level: 1, name: 'Crawl endpoints' }).waitFor();
    expect(await page.locator('.views [aria-current=page]').allTextContents()).toEqual(['Endpoints']);
    await page.getByRole('button', { name: 'Register the first endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://crawler.example.com/orders');
    await dialog.getByRole('textbox', { name: 'Description' }).fill('Crawler in the office');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await page.getByRole('heading', { name: 'Secret of the endpoint' }).waitFor();
    await dialog.getByText('it is not shown again').waitFor();
    const secret = await copy(page, 'Secret');
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /Crawler in the office/ });
    await row.getByText('No schedule uses it').waitFor();

    await page.goto(new URL('/crawls?do=new', page.url()).href);
    await dialog.getByRole('button', { name: /Connector$/ }).click();
    await page.getByRole('option', { name: 'Support desk · support_1', exact: true }).click();
    await dialog.getByRole('button', { name: /Who crawls$/ }).click();
    await page.getByRole('option', { name: 'An endpoint of the organisation' }).click();
    await dialog.getByRole('button', { name: /Crawler in the office Endpoint$/ }).waitFor();
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('The schedule of Support desk is saved.').waitFor();
    const findUsed = async () => {
      const { data } = await using.platform.call<{ data: { endpointId: string | null } }>(
        'GET',
        '/api/v1/crawlingManager/support_1/schedule',
      );
      return data.endpointId;
    };
    const used = await findUsed();
    expect(used).toEqual(expect.any(String));
    await page.getByRole('button', { name: 'Actions for Support desk', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Edit schedule' }).click();
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await findUsed()).toBe(used);

    const { call } = using.platform;
    type Requested = { data: { runId: string } };
    const { data: run } = await call<Requested>('POST', '/api/v1/crawlingManager/support_1/run');
    await page.goto(new URL(`/crawls/connectors/support_1/runs/${run.runId}`, page.url()).href);
    await page.getByRole('link', { name: 'Crawler in the office' }).click();
    await page.getByRole('heading', { level: 1, name: 'Crawl endpoints' }).waitFor();

    await page.getByRole('button', { name: 'Actions for Crawler in the office' }).click();
    await page.getByRole('menuitem', { name: 'Replace the secret…' }).click();
    await dialog.getByText('requests have the signature of the old secret too').waitFor();
    await dialog.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByRole('heading', { name: 'Secret of the endpoint' }).waitFor();
    const replaced = await copy(page, 'Secret');
    expect(replaced).toMatch(/^whsec_/);
    expect(replaced).not.toBe(secret);
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByText(replaced).count()).toBe(0);

    using.allowFaults(/409/);
    await page.getByRole('button', { name: 'Actions for Crawler in the office' }).click();
    await page.getByRole('menuitem', { name: 'Test…' }).click();
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('Fails').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Actions for Crawler in the office' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove the endpoint' }).click();
    await dialog.getByRole('alert').waitFor();
  });
});
