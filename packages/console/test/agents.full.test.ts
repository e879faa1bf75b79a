import { describeWith, type Page, waitFor } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { findBarriersInLooks, findBarriersInThemes, useConsole, waitForContent } from './console.js';
import type { Person } from './platform.js';

const TOKENS = '/api/v1/personal-access-tokens';
interface Token {
  readonly id: string;
  readonly accessToken: string;
}

describeWith('chromium', 'the page of an agent', () => {
  const using = useConsole();

  const createToken = async (
    as: Person,
    name: string,
    scopes: readonly string[],
    allowList: readonly string[] = [],
  ): Promise<Token> =>
    (await using.platform.call<{ token: Token }>('POST', TOKENS, { name, scopes, allowList }, as)).token;
  async function callTool({ accessToken }: Token, name: string): Promise<void> {
    const answer = await fetch(`${using.platform.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
        'user-agent': 'claude-code/2.1.330 (cli)',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }),
    });
    expect(answer.status).toBe(200);
  }
  const isNarrow = (page: Page) =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
  const getSection = (page: Page, name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) });
  /** Opens a page again until the text is there: calls are stored a moment later. */
  const openUntil = (page: Page, text: string): Promise<unknown> =>
    waitFor(
      async () => {
        await page.reload();
        await waitForContent(page);
        return page.getByText(text).first().isVisible();
      },
      { what: text },
    );

  test('UI-28, UI-29 a member learns what a token was refused, and mends it', async () => {
    const ada = await using.platform.createMember('Ada Mends');
    const token = await createToken(ada, 'Notes agent', ['pat:read'], ['127.0.0.0/8']);
    await callTool(token, 'whoami');
    await callTool(token, 'whoami');
    await callTool(token, 'list_my_tokens');
    await fetch(`${using.platform.url}/api/v1/crawlingManager/wiki_1/schedule`, {
      headers: { authorization: `Bearer ${token.accessToken}` },
    });
    const page = await using.open('/account/tokens', { as: ada });
    await page.getByRole('link', { name: 'Notes agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Notes agent' }).waitFor();
    await openUntil(page, 'GET /api/v1/crawlingManager/:connector/schedule');
    // The services report what they refused on their own, one after the other.
    await openUntil(page, 'it lacks user:read · 2 times');
    await openUntil(page, 'it lacks crawl:read · once');
    await page.locator('.facts').getByText('Ada Mends (you)').waitFor();
    expect(await page.getByRole('list', { name: 'Tools' }).getByRole('link').allTextContents()).toEqual([
      'list_my_tokens',
    ]);
    const refusals = getSection(page, 'What it was refused');
    await refusals.getByText('it lacks user:read · 2 times').waitFor();
    await refusals.getByText('it lacks crawl:read · once').waitFor();
    // No member can use that permission.
    await refusals.getByText('An administrator can change your role.').waitFor();
    expect(await refusals.getByRole('button').allTextContents()).toEqual(['Give it user:read…']);
    const row = page.getByRole('row', { name: /list_my_tokens/ });
    await row.getByText('Completed').waitFor();
    await row.getByText('Claude Code').waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await isNarrow(page)]).toEqual([width, true]);
    }
    await page
      .getByRole('row', { name: /crawlingManager/ })
      .getByRole('button')
      .click();
    const details = page.getByRole('dialog', { name: 'Details of the call' });
    await details.getByText('it lacks crawl:read').waitFor();
    await details.getByRole('button', { name: /^Copy: Request id/ }).waitFor();
    expect(await findBarriersInThemes(page, '[role=dialog]')).toEqual([]);
    await page.keyboard.press('Escape');

    await refusals.getByRole('button', { name: 'Give it user:read…' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Notes agent');
    expect(await dialog.locator('input[name=scopes]:checked').evaluateAll((all) => all.map((one) => (one as { value?: string }).value))).toEqual(['user:read', 'pat:read']); // oxfmt-ignore
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    const accessToken = await page.getByLabel('Token', { exact: true }).textContent();
    await callTool({ id: '', accessToken: accessToken ?? '' }, 'whoami');
    await page.getByRole('button', { name: 'Done' }).click();
    const { tokens } = await using.platform.call<{ tokens: { id: string; scopes: string[]; allowList: string[] }[] }>('GET', TOKENS, undefined, ada);
    const made = tokens.find(({ id }) => id !== token.id);
    expect(made?.scopes.toSorted()).toEqual(['pat:read', 'user:read']);
    // It is no wider than the one whose place it takes.
    expect(made?.allowList).toEqual(['127.0.0.0/8']);
  }); // oxfmt-ignore

  test('UI-28 an administrator opens the token of a member, and is told who can mend it', async () => {
    const grace = await using.platform.createMember('Grace Owner');
    const token = await createToken(grace, 'Wiki agent', ['pat:read']);
    await callTool(token, 'whoami');
    const page = await using.open('/organisation/tokens');
    await page.getByRole('link', { name: 'Wiki agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Wiki agent' }).waitFor();
    await openUntil(page, 'it lacks user:read');
    await getSection(page, 'What it was refused')
      .getByText('Grace Owner can do that on this page.')
      .waitFor();
    expect(await page.getByRole('button', { name: /^Give it/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Edit…' }).count()).toBe(0);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('.facts').getByRole('link', { name: 'Grace Owner' }).click();
    await page.getByRole('heading', { level: 1, name: 'Grace Owner' }).waitFor();
    using.allowFaults(/404/);
    const other = await using.platform.createMember('Alan Other');
    const refused = await using.open(`/account/tokens/${token.id}`, { as: other });
    await refused.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  test('UI-28 a connected app and a service account have the same page', async () => {
    const { call, url } = using.platform;
    const scopes = ['user:read'];
    type Application = { application: { clientId: string } };
    const fields = appFields('Desk agent', scopes);
    const { application } = await call<Application>('POST', '/api/v1/oauth-applications', fields);
    const app = { url, clientId: application.clientId, scopes };
    const { accessToken } = await connectApp(await using.open('/account/apps'), app);
    await callTool({ id: '', accessToken }, 'whoami');
    const page = await using.open('/account/apps');
    await page.getByRole('link', { name: 'Desk agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Desk agent' }).waitFor();
    await page.getByRole('list', { name: 'Tools' }).getByText('whoami').waitFor();
    await openUntil(page, 'Completed');
    await page.getByRole('row', { name: /whoami/ }).getByText('Claude Code').waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'End the connection…' }).click();
    await page.getByRole('button', { name: 'End the connection', exact: true }).click();
    await page.locator('.facts').getByText('Ended').waitFor();

    type Account = { serviceAccount: { id: string } };
    const { serviceAccount } = await call<Account>('POST', '/api/v1/service-accounts', { name: 'Nightly', role: 'member' });
    const path = `/api/v1/service-accounts/${serviceAccount.id}/tokens`;
    const { token } = await call<{ token: Token }>('POST', path, { name: 'night', scopes: ['kb:read'] });
    await callTool(token, 'whoami');
    await page.goto(`${url}/organisation/service-accounts/${serviceAccount.id}`);
    await page.getByRole('heading', { level: 1, name: 'Nightly' }).waitFor();
    await openUntil(page, 'it lacks user:read');
    await page.getByRole('button', { name: 'Give it user:read…' }).click();
    await page.getByRole('dialog').getByRole('checkbox', { checked: true }).first().waitFor();
    expect(await findBarriersInThemes(page, '[role=dialog]')).toEqual([]);
  }); // oxfmt-ignore
});
