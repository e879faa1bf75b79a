import { describeWith } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { waitForFocusIn } from './focus.js';

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

  test('lists what ends with the removal of a member', async () => {
    const joan = await using.platform.createMember('Joan Clarke');
    for (const name of ['Her laptop', 'Her script'])
      await using.platform.call(
        'POST',
        '/api/v1/personal-access-tokens',
        { name, scopes: ['user:read'] },
        joan,
      );
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Actions for Joan Clarke' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('One open session ends.').waitFor();
    await dialog.getByText('2 tokens are refused:').waitFor();
    await dialog.getByText('Her laptop').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Joan Clarke is removed.').waitFor();
  });

  test('invites again by mail, and by a link to copy where there is no SMTP server, by keyboard alone', async () => {
    const { platform } = using;
    const path = '/api/v1/configurationManager/smtpConfig';
    const { smtp } = await platform.call<{ smtp: object }>('GET', path);
    await platform.call('POST', '/api/v1/users', {
      email: 'edsger@example.com',
      fullName: 'Edsger Dijkstra',
    });
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Actions for Edsger Dijkstra' }).click();
    await page.getByRole('menuitem', { name: 'Send the invitation again…' }).click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('edsger@example.com is invited by mail.').waitFor();

    await platform.call('DELETE', path);
    using.allowFaults(/404/);
    try {
      await page.getByRole('button', { name: 'Invite a member' }).focus();
      await page.keyboard.press('Enter');
      await waitForFocusIn(page.getByLabel('E-mail address'));
      await page.keyboard.type('barbara@example.com');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Barbara Liskov');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Barbara Liskov is invited' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Copy: Invitation link' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('Copied').waitFor();
      const link = await page.evaluate<string>('navigator.clipboard.readText()');
      await page.getByRole('button', { name: 'Done' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('row', { name: /Barbara Liskov/ }).waitFor();
      const guest = await page.context().browser()?.newContext();
      const invitation = await guest?.newPage();
      await invitation?.goto(link);
      await invitation?.getByText('barbara@example.com').first().waitFor();
      await invitation?.getByLabel('Password', { exact: true }).fill(platform.admin.password);
      await invitation?.keyboard.press('Enter');
      await invitation?.waitForURL((url) => !url.pathname.startsWith('/sign-in/invite'));
      await guest?.close();

      // The list still shows an invitation, which has become a member meanwhile.
      using.allowFaults(/409/);
      await page.getByRole('button', { name: 'Actions for Barbara Liskov' }).click();
      await page.getByRole('menuitem', { name: 'Cancel the invitation…' }).click();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByRole('alert').getByText('has accepted the invitation already').waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page
        .getByRole('row', { name: /Barbara Liskov/ })
        .getByText('Joined')
        .waitFor();
    } finally {
      await platform.call('POST', path, smtp);
    }
  });

  test('explains why the last administrator cannot be demoted', async () => {
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

  test('an administrator revokes a member’s token, and the audit log shows it', async () => {
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
