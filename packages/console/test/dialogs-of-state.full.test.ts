import { describeWith, type Page, waitFor } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { useConsole } from './console.js';
import { examineDialog, findFocusLeaks, findOverflow, leaveDialog } from './dialog-checks.js';
import { waitForFocus } from './focus.js';

const SMTP = '/api/v1/configurationManager/smtpConfig';
const LONG = 'W'.repeat(100);

describeWith('chromium', 'dialogs that depend on what has happened', () => {
  const using = useConsole();

  /** @param worker - `pull`: the run waits, since no worker asks for it. */
  async function run(connector: string, worker: 'event' | 'pull' = 'event'): Promise<string> {
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    const path = `/api/v1/crawlingManager/${connector}`;
    await using.platform.call('POST', `${path}/schedule`, { scheduleConfig, worker });
    const { data } = await using.platform.call<{ data: { runId: string } }>('POST', `${path}/run`);
    return data.runId;
  }

  async function openByButton(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  }

  async function openByMenu(page: Page, menu: string, item: string): Promise<void> {
    await page.getByRole('button', { name: menu }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  }

  test('UI-6 a sync event', async () => {
    await run('mail_1');
    const page = await using.open('/crawls/events');
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('heading', { level: 1 }).waitFor();
        return (await page.getByRole('row', { name: /SyncMail1Event/ }).count()) > 0;
      },
      { what: 'the event' },
    );
    await page.getByRole('row', { name: /SyncMail1Event/ }).click();
    await examineDialog(page, 'row');
  });

  test('UI-6 the end of a run', async () => {
    const page = await using.open(`/crawls/connectors/wiki_1/runs/${await run('wiki_1', 'pull')}`);
    await openByButton(page, 'Cancel the run…');
    await examineDialog(page, 'Cancel the run…');
  });

  test('UI-6 a mail that is sent again', async () => {
    const { platform } = using;
    const { smtp } = await platform.call<{ smtp: { port: number } }>('GET', SMTP);
    const fields = { host: '127.0.0.1', fromEmail: 'noreply@example.com', tls: 'none' };
    await platform.call('POST', SMTP, { ...fields, port: 1 });
    const { token } = await platform.call<{ token: { accessToken: string } }>('POST', '/api/v1/personal-access-tokens', { name: 'mailer', scopes: ['SEND_MAIL'] });
    await fetch(`${platform.url}/api/v1/mail/emails/sendEmail`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ emailTemplateType: 'accountCreation', sendEmailTo: ['ada@example.com'], subject: LONG, templateData: { userName: 'Ada' } }),
    });
    await platform.call('POST', SMTP, { ...fields, port: smtp.port });
    const page = await using.open('/mails?state=failed');
    await page.getByRole('row').filter({ hasText: LONG }).click();
    await openByButton(page, 'Send again…');
    await examineDialog(page, 'Send again…');
  }); // prettier-ignore

  test('UI-6 a connected app that is disconnected', async () => {
    const { url, call } = using.platform;
    const scopes = ['user:read'];
    const { application } = await call<{ application: { clientId: string } }>('POST', '/api/v1/oauth-applications', appFields(LONG, scopes));
    const page = await using.open('/account/apps');
    await connectApp(page, { url, clientId: application.clientId, scopes });
    for (const path of ['/account/apps', '/organisation/apps']) {
      await page.goto(url + path);
      await openByMenu(page, `Actions for ${LONG}`, 'End the connection…');
      await examineDialog(page, `Actions for ${LONG}`);
    }
  }); // prettier-ignore

  test('UI-6 the definition of a tool', async () => {
    const wiki = await startWikiServer();
    try {
      const body = { name: 'wiki', url: wiki.url, rules: [{ pattern: '*', scope: 'kb:read' }] };
      const { server } = await using.platform.call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', body);
      const page = await using.open(`/organisation/mcp-servers/${server.id}`);
      await page.getByRole('button', { name: 'Read its tools now' }).click();
      await openByMenu(page, 'Actions for page_search', 'Review…');
      await examineDialog(page, 'Actions for page_search');
    } finally {
      await wiki.close();
    }
  }); // prettier-ignore

  test('UI-6 what a policy would change', async () => {
    await using.platform.call('POST', '/api/v1/personal-access-tokens', { name: LONG, scopes: ['user:read'], expiryDays: 'never' });
    const page = await using.open('/organisation/token-policy');
    await openByButton(page, 'Change the policy…');
    await page.getByRole('checkbox', { name: /Limit the lifetime/ }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('At most … days').fill('45');
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByRole('region', { name: /not within this policy/ }).getByText(LONG).waitFor();
    await examineDialog(page, 'Change the policy…');
  }); // prettier-ignore

  test('UI-6 the link of an invitation', async () => {
    await using.platform.call('DELETE', SMTP);
    using.allowFaults(/404/);
    const page = await using.open('/organisation/members');
    await openByButton(page, 'Invite a member');
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(`${'m'.repeat(60)}@example.com`);
    await page.getByRole('textbox', { name: 'Full name' }).fill(LONG);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /is invited$/ }).waitFor();
    expect([await findOverflow(page), await findFocusLeaks(page)]).toEqual([[], []]);
    await page.getByRole('button', { name: 'Done' }).click();
    await waitForFocus(page, 'Invite a member');
    await openByMenu(page, `Actions for ${LONG}`, 'Send the invitation again…');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('button', { name: 'Copy: Invitation link' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await waitForFocus(page, `Actions for ${LONG}`);
  });

  test('UI-6 the confirmation that comes over another dialog', async () => {
    await using.platform.createMember('Ada Lovelace');
    const page = await using.open('/organisation/members');
    await using.platform.ageSessions(using.platform.admin);
    using.allowFaults(/403/);
    await openByMenu(page, 'Actions for Ada Lovelace', 'Remove…');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor();
    expect([await findOverflow(page), await findFocusLeaks(page)]).toEqual([[], []]);
  });

  test('UI-6 the navigation of a phone', async () => {
    const page = await using.open('/account', { width: 390 });
    await openByButton(page, 'Open the navigation');
    expect(await findFocusLeaks(page)).toEqual([]);
    await leaveDialog(page, 'Open the navigation');
  });
});
