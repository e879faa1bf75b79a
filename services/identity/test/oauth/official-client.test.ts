import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { findFreePort } from '../account-flows/mail-service.js';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { type Browser, consentAt, createBrowser } from './flow.js';

const REDIRECT_URI = 'http://127.0.0.1:41999/callback';
let identity: IdentityUnderTest;
let browser: Browser;

beforeAll(async () => {
  const port = await findFreePort();
  const environment = { PUBLIC_URL: `http://127.0.0.1:${port}`, OAUTH_REGISTRATION: 'on' };
  identity = await startIdentity({ port, environment });
  browser = createBrowser(identity, environment.PUBLIC_URL);
  await browser.signIn();
});
afterAll(() => identity.close());

/** Keeps what the SDK's flow stores, and answers its consent page. */
function createProvider() {
  const kept: Partial<Record<string, unknown>> = {};
  let code = '';
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: {
      client_name: 'SDK',
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept['client'] as never,
    saveClientInformation: (value) => void (kept['client'] = value),
    tokens: () => kept['tokens'] as never,
    saveTokens: (value) => void (kept['tokens'] = value),
    codeVerifier: () => kept['verifier'] as string,
    saveCodeVerifier: (value) => void (kept['verifier'] = value),
    async redirectToAuthorization(url) {
      code = (await consentAt(browser, url.toString())).searchParams.get('code') ?? '';
    },
  };
  return { provider, kept, getCode: () => code };
}

test('the official client connects from nothing, calls a tool, and refreshes when its token has ended', async () => {
  const { provider, kept, getCode } = createProvider();
  const open = () =>
    new StreamableHTTPClientTransport(new URL(`${identity.url}/mcp`), { authProvider: provider });
  const first = open();
  const client = new Client({ name: 'test', version: '1' });
  await expect(client.connect(first)).rejects.toThrow('Unauthorized');
  await first.finishAuth(getCode());
  await client.connect(open());
  const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} });
  expect(structuredContent).toMatchObject({
    user: { email: 'admin@example.com' },
    credential: { kind: 'oauth', scopes: ['user:read', 'kb:read', 'crawl:read'] },
  });
  const before = kept['tokens'];
  identity.advance(601_000);
  await client.callTool({ name: 'whoami', arguments: {} });
  expect(kept['tokens']).not.toEqual(before);
  await client.close();
});
