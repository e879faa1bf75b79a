import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';

describeWith('chromium', 'the screens of the organisation', () => {
  const using = useConsole();

  test('invites a member, changes the role, and cancels the invitation', async () => {
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByLabel('Full name').fill('Grace Hopper');
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByText('grace@example.com is invited by mail.').waitFor();
    const row = page.getByRole('row', { name: /Grace Hopper/ });
    await row.getByText('Invited').waitFor();

    await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
    await page.getByRole('menuitem', { name: 'Make administrator…' }).click();
    await page.getByRole('button', { name: 'Change the role' }).click();
    await row.getByText('Administrator').waitFor();

    await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
    await page.getByRole('menuitem', { name: 'Cancel the invitation…' }).click();
    await page.getByRole('heading', { name: 'Remove Grace Hopper (grace@example.com)?' }).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('says why the last administrator stays one', async () => {
    using.allowFaults(/409/);
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Actions for Administrator' }).click();
    await page.getByRole('menuitem', { name: 'Make member…' }).click();
    await page.getByRole('button', { name: 'Change the role' }).click();
    await page
      .getByRole('alert')
      .getByText(/administrator/i)
      .waitFor();
  });

  test('an administrator revokes a member’s token, and the audit log tells it', async () => {
    const ada = await using.platform.createMember('Ada Lovelace');
    const body = { name: 'of Ada', scopes: ['user:read'] };
    await using.platform.call('POST', '/api/v1/personal-access-tokens', body, ada);
    const page = await using.open('/organisation/tokens');
    await page.getByRole('row').filter({ hasText: 'of Ada' }).getByText('Ada Lovelace').waitFor();
    await page.getByRole('button', { name: 'Actions for of Ada' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('heading', { name: 'Revoke “of Ada” of Ada Lovelace?' }).waitFor();
    await page.getByLabel('Reason').fill('left the laptop on a train');
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('“of Ada” is revoked.').waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('button', { name: /Action$/ }).click();
    await page.getByRole('option', { name: 'Token revoked' }).click();
    await page.waitForURL(/action=token\.revoked/);
    await page.getByText('left the laptop on a train').waitFor();
  });
});
