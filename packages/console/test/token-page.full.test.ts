import { describeWith, waitFor } from '@platform/testing';
import { useConsole } from './console.js';

interface Created {
  readonly token: { readonly id: string; readonly accessToken: string };
}

const TOKENS = '/api/v1/personal-access-tokens';

describeWith('chromium', 'the page of a token that was used', () => {
  const using = useConsole();

  const post = async <Body>(path: string, token: string, body: object): Promise<Body> => {
    const response = await fetch(using.platform.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Body;
  };
  const callTool = (token: string, id: number) =>
    post('/mcp', token, {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'whoami', arguments: {} },
    });

  test('leads to the token that created it', async () => {
    const parent = await using.platform.call<Created>('POST', TOKENS, {
      name: 'Parent',
      scopes: ['user:read', 'pat:write'],
    });
    const child = await post<Created>(TOKENS, parent.token.accessToken, {
      name: 'Child',
      scopes: ['user:read'],
    });
    const page = await using.open(`/account/tokens/${child.token.id}`);
    await page.getByRole('link', { name: 'Open the token' }).click();
    await page.getByRole('heading', { name: 'Parent' }).waitFor();
  });

  test('lists the tools that were called, and more of them by keyboard', async () => {
    const { token } = await using.platform.call<Created>('POST', TOKENS, {
      name: 'Caller',
      scopes: ['user:read'],
    });
    const ids = Array.from({ length: 25 }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => callTool(token.accessToken, id)));
    const page = await using.open(`/account/tokens/${token.id}`);
    const calls = page.getByRole('row', { name: /whoami/ });
    const showMore = page.getByRole('button', { name: 'Show more' });
    // Calls are stored a moment later, and the page asks again only now and then.
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Caller' }).waitFor();
        return showMore.isVisible();
      },
      { what: 'a second page of calls' },
    );
    expect(await calls.count()).toBe(20);
    expect(await calls.first().textContent()).toContain('Completed');
    await showMore.press('Enter');
    await calls.nth(24).waitFor();
    expect(await calls.count()).toBe(25);
    await showMore.waitFor({ state: 'detached' });
  });
});
