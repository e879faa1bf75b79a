import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeWith } from '@platform/testing';
import { appFields } from '../screenshots/connect-app.mjs';
import { copy, findBarriersInLooks, useConsole } from './console.js';
import type { Person } from './platform.js';

const run = promisify(execFile);

const isNarrow = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';

describeWith('chromium', 'the screen that connects agents', () => {
  const using = useConsole();
  const createToken = async (as: Person, scopes: readonly string[]): Promise<string> => {
    const body = { name: 'agent', scopes };
    const path = '/api/v1/personal-access-tokens';
    return (await using.platform.call<{ token: { accessToken: string } }>('POST', path, body, as)).token
      .accessToken;
  };

  test('UI-26, UI-27 a member copies the command of a client, and sees its first call', async () => {
    const ada = await using.platform.createMember('Ada Connects');
    const accessToken = await createToken(ada, ['user:read']);
    const page = await using.open('/', { as: ada });
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    expect((await navigation.getByRole('link').allTextContents())[0]).toBe('Connect');
    await navigation.getByRole('link', { name: 'Connect', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Connect an agent' }).waitFor();
    expect(await copy(page, 'The address')).toBe(`${using.platform.url}/mcp`);
    const tiles = page.getByRole('radiogroup', { name: 'Choose your client' }).getByRole('radio');
    expect(await tiles.allTextContents()).toEqual([
      'Claude',
      'ChatGPT',
      'Claude Code',
      'Codex',
      'VS Code',
      'Cursor',
      'Python',
      'TypeScript',
      'curl',
    ]);
    expect(await copy(page, 'Claude Code: sign in with the browser')).toBe(
      `claude mcp add --transport http platform ${using.platform.url}/mcp\nclaude mcp login platform`,
    );
    for (const tile of await tiles.all()) {
      await tile.click();
      await page.getByRole('heading', { name: 'With a token' }).waitFor();
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect([await tile.textContent(), width, await page.evaluate<boolean>(isNarrow)]).toEqual([
          await tile.textContent(),
          width,
          true,
        ]);
      }
    }
    await page.getByText('Waiting for the first call…').waitFor();
    const command = await copy(page, 'curl: with a token');
    const { stdout } = await run('bash', ['-c', command], {
      env: { ...process.env, PLATFORM_TOKEN: accessToken },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      result: { structuredContent: { user: { email: ada.email } } },
    });
    await page.getByRole('status').filter({ hasText: 'curl called whoami' }).waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
  });

  test('UI-27 a refusal says at once what the agent lacks', async () => {
    const ada = await using.platform.createMember('Ada Lacks');
    const accessToken = await createToken(ada, ['kb:read']);
    const page = await using.open('/connect', { as: ada });
    await page.getByText('Waiting for the first call…').waitFor();
    await page.getByRole('radio', { name: 'curl' }).click();
    const command = await copy(page, 'curl: with a token');
    await run('bash', ['-c', command], { env: { ...process.env, PLATFORM_TOKEN: accessToken } });
    await page.getByText('curl was refused whoami: it lacks user:read').waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
  });

  test('UI-30 an attempt to sign in says at which step it is stuck, and whose turn it is', async () => {
    const { call, url } = using.platform;
    const ada = await using.platform.createMember('Ada Stuck');
    type Application = { application: { clientId: string } };
    const fields = appFields('Stuck agent', ['user:read']);
    const { application } = await call<Application>('POST', '/api/v1/oauth-applications', fields);
    const page = await using.open('/connect', { as: ada });
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: application.clientId,
      redirect_uri: 'http://127.0.0.1/callback',
      scope: 'user:read',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      state: 'stuck',
    });
    await page.goto(`${url}/oauth2/authorize?${query}`);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await page.goto(`${url}/connect`);
    const attempt = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'How far it has come' }) })
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'Sign-in of Stuck agent' }) });
    await attempt.getByText('Up to you.').waitFor();
    await attempt.getByText('press “Allow”').waitFor();
    expect(await attempt.locator('.reached > li[data-stuck]').allTextContents()).toEqual(['Was allowed']);
    expect(await attempt.locator('.reached > li').allTextContents()).toEqual(
      expect.arrayContaining(['Opened the browser', 'Asked for consent']),
    );
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.evaluate<boolean>(isNarrow)).toBe(true);

    const administrator = await using.open('/organisation/apps');
    await administrator.getByRole('link', { name: 'Attempts to connect' }).click();
    await administrator.getByRole('heading', { level: 1, name: 'Attempts to connect' }).waitFor();
    const seen = administrator
      .getByRole('listitem')
      .filter({ has: administrator.getByRole('heading', { name: 'Sign-in of Stuck agent' }) });
    await seen.getByText(`Up to ${ada.email}.`).waitFor();
    await seen.getByText('What they are told: The question is in your browser').waitFor();
    expect(await findBarriersInLooks(administrator)).toEqual([]);
  });

  test('UI-26 lists that are empty until an agent is connected lead to the screen', async () => {
    const ada = await using.platform.createMember('Ada Empty');
    for (const path of ['/account/tokens', '/account/apps']) {
      const page = await using.open(path, { as: ada });
      await page.getByRole('link', { name: 'Connect an agent' }).click();
      await page.getByRole('heading', { level: 1, name: 'Connect an agent' }).waitFor();
    }
  });
});
