import { describeWith, type Page, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';

describeWith('chromium', 'searching lists, and acting on several rows', () => {
  const using = useConsole();

  beforeAll(async () => {
    const { platform } = using;
    const { serviceAccount } = await platform.call<{ serviceAccount: { id: string } }>(
      'POST',
      '/api/v1/service-accounts',
      { name: 'Backup robot' },
    );
    await platform.call('POST', `/api/v1/service-accounts/${serviceAccount.id}/tokens`, {
      name: 'nightly',
      scopes: ['user:read'],
    });
    for (const name of ['one', 'two', 'three'])
      await platform.call('POST', '/api/v1/personal-access-tokens', { name, scopes: ['user:read'] });
    for (const name of ['Ida Rhodes', 'Mary Keller'])
      await platform.call('POST', '/api/v1/users', {
        email: `${name.replace(' ', '.').toLowerCase()}@lists.example.com`,
        fullName: name,
      });
    await platform.createMember('Hedy Lamarr');
  });

  const rowNames = (page: Page) => page.locator('tbody [role=rowheader]').allTextContents();
  const waitForRows = (page: Page, names: readonly string[]) =>
    waitFor(async () => JSON.stringify(await rowNames(page)) === JSON.stringify(names), {
      what: names.join(', '),
    });

  test('sorts tokens by name and by expiry, all of them and the own ones, and members by name', async () => {
    for (const path of ['/organisation/tokens', '/account/tokens']) {
      const page = await using.open(path);
      const isAll = path.startsWith('/organisation');
      await waitForRows(page, ['three', 'two', 'one', ...(isAll ? ['nightly'] : [])]);
      await page.getByRole('button', { name: 'Name' }).click();
      await page.waitForURL(/sort=name/);
      await waitForRows(page, [...(isAll ? ['nightly'] : []), 'one', 'three', 'two']);
      await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort=ascending]')).waitFor();
      await page.getByRole('button', { name: 'Expires' }).click();
      await page.waitForURL(/sort=expiry/);
      await waitForRows(page, [...(isAll ? ['nightly'] : []), 'one', 'two', 'three']);
      await page.getByRole('button', { name: 'Expires' }).click();
      await waitForRows(page, ['three', 'two', 'one', ...(isAll ? ['nightly'] : [])]);
    }
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Name' }).click();
    await waitFor(async () => (await rowNames(page))[0]?.startsWith('Administrator'), { what: 'the order' });
  }); // prettier-ignore

  test('finds the token of a service account by its owner, and revokes several at once', async () => {
    const page = await using.open('/organisation/tokens');
    await waitForRows(page, ['three', 'two', 'one', 'nightly']);
    await page.getByText('4 in total').waitFor();
    await page.getByRole('searchbox').fill('backup ROB');
    await page.waitForURL(/q=backup/);
    await waitForRows(page, ['nightly']);
    await page.getByText('1 in total').waitFor();
    await page.getByRole('row', { name: 'nightly' }).getByText('Service account').waitFor();
    await page.getByRole('searchbox').fill('');
    await waitForRows(page, ['three', 'two', 'one', 'nightly']);

    for (const name of ['one', 'two']) await page.getByRole('checkbox', { name, exact: true }).press('Space');
    await page.getByText('2 selected').first().waitFor();
    await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('heading', { name: 'Revoke 2 tokens?' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Reason').fill('spring cleaning');
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('2 tokens are revoked.').waitFor();
    await waitForRows(page, ['three', 'nightly']);
    await page.getByText('2 in total').waitFor();
  });

  test('shows the joined, the invited and the administrators, by name, and cancels invitations together', async () => {
    const page = await using.open('/organisation/members?show=invited&sort=name');
    await waitFor(async () => (await rowNames(page)).length === 2, { what: 'the invited' });
    expect((await rowNames(page)).map((text) => text.slice(0, 10))).toEqual(['Ida Rhodes', 'Mary Kelle']);
    await page.getByRole('radio', { name: 'All', exact: true }).click();
    await page.getByRole('row', { name: /Hedy Lamarr/ }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
    // Those who have joined have no invitation to cancel.
    await page.getByRole('button', { name: 'Cancel the invitation… (2)' }).click();
    await page.getByRole('heading', { name: 'Cancel 2 invitations?' }).waitFor();
    await page.getByRole('button', { name: 'Cancel the invitations' }).click();
    await page.getByText('2 invitations are cancelled.').waitFor();
    await page.getByRole('radio', { name: 'Invited' }).click();
    await page.getByText('No member matches').waitFor();
    await page.getByRole('radio', { name: 'Administrators' }).click();
    await page.getByRole('cell', { name: 'Administrator' }).first().waitFor();
    expect(await page.getByRole('cell', { name: 'Member', exact: true }).count()).toBe(0);
    await page.getByRole('searchbox').fill('hedy');
    await page.getByText('No member matches').waitFor();
    await page.getByRole('radio', { name: 'Joined' }).click();
    await page.getByText('1 in total').waitFor();
  });

  test('removes service accounts and disables applications together', async () => {
    const { platform } = using;
    const grantTypes = ['client_credentials'];
    for (const name of ['App one', 'App two']) {
      await platform.call('POST', '/api/v1/service-accounts', { name: name.replace('App', 'Robot') });
      await platform.call('POST', '/api/v1/oauth-applications', { name, grantTypes, scopes: ['user:read'] });
    }
    const page = await using.open('/organisation/service-accounts?q=o');
    await page.getByRole('row', { name: /Robot two/ }).waitFor();
    for (const name of ['Robot one', 'Robot two', 'App one'])
      await page.getByRole('checkbox', { name, exact: true }).press('Space');
    await page.getByRole('button', { name: 'Remove… (2)' }).click();
    await page.getByRole('heading', { name: 'Remove 2 service accounts?' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove account' }).click();
    await page.getByText('2 service accounts are removed.').waitFor();
    await page.getByRole('row', { name: /Robot/ }).first().waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
    await page.getByRole('row', { name: /App two/ }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('2 applications are disabled.').waitFor();
    await page
      .getByRole('row', { name: /App two/ })
      .getByText('Disabled')
      .waitFor();
  });

  test('keeps open what could not be done, and says why', async () => {
    const { platform } = using;
    await platform.call('POST', '/api/v1/personal-access-tokens', { name: 'gone', scopes: ['user:read'] });
    const page = await using.open('/account/tokens?q=gone');
    await page.getByRole('checkbox', { name: 'gone', exact: true }).press('Space');
    await page.getByRole('button', { name: 'Revoke…' }).click();
    using.allowFaults(/500|ERR_FAILED/);
    await page.route('**/api/v1/personal-access-tokens/*', (route) => route.fulfill({ status: 500 }));
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('alert').getByText('gone: The platform failed to answer.').waitFor();
    await page.unroute('**/api/v1/personal-access-tokens/*');
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('One token is revoked.').waitFor();
  });

  test('finds entries of the audit log and mails by a part of a name or an address', async () => {
    const page = await using.open('/organisation/audit?q=nightl');
    await waitForRows(page, ['Token created']);
    await page.getByRole('link', { name: 'Mail', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Mails' }).waitFor();
    await page.getByRole('searchbox').fill('ida.rhodes@');
    await page.waitForURL(/q=ida/);
    await waitFor(async () => (await rowNames(page)).length === 1, { what: 'the mail' });
  });

  test('changes one’s own name', async () => {
    const page = await using.open('/account', { as: await using.platform.createMember('Anne Onym') });
    await page.getByRole('button', { name: 'Change name…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Annie Easley');
    await page.getByRole('button', { name: 'Change name', exact: true }).click();
    await page.getByText('Your name is now Annie Easley.').waitFor();
    await page.getByRole('button', { name: /Annie Easley/ }).waitFor();
  });
});
