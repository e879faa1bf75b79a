import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { findFreePort } from '@platform/embedded';
import { fetchPatiently, readSample } from './documented-sample.js';
import { type Browser, consentAt, createBrowser } from './flow.js';
import { startPublicIdentity } from './public-identity.js';

const REDIRECT_URI = 'http://127.0.0.1:41999/callback';
let browser: Browser;

const { identity } = await startPublicIdentity({ OAUTH_REGISTRATION: 'on', OAUTH_CLIENT_HOSTS: 'none' });
// Time passes in these tests, and a connection needs a recent sign-in (AUTH-41).
beforeEach(async () => {
  browser = createBrowser(identity, identity.url);
  await browser.signIn();
});
afterAll(() => identity.close());

/** Keeps what the SDK's flow stores, and answers its consent page. Both generations of the SDK take it. */
function createProvider() {
  const kept: Partial<Record<string, unknown>> = {};
  let callback = new URLSearchParams();
  const provider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: {
      client_name: 'SDK',
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept['client'] as never,
    saveClientInformation: (value: unknown) => void (kept['client'] = value),
    tokens: () => kept['tokens'] as never,
    saveTokens: (value: unknown) => void (kept['tokens'] = value),
    codeVerifier: () => kept['verifier'] as string,
    saveCodeVerifier: (value: string) => void (kept['verifier'] = value),
    discoveryState: () => kept['discovery'] as never,
    saveDiscoveryState: (value: unknown) => void (kept['discovery'] = value),
    async redirectToAuthorization(url: URL) {
      callback = (await consentAt(browser, url.toString())).searchParams;
    },
  };
  return { provider, kept, getCallback: () => callback };
}
type Provider = ReturnType<typeof createProvider>['provider'];

const name = 'test';
/** Each opens a client with a transport that authenticates, and finishes the flow from the address it was sent to. */
const generations = {
  first(provider: Provider) {
    const open = () => new FirstTransport(new URL(`${identity.url}/mcp`), { authProvider: provider });
    const [client, refused] = [new FirstClient({ name, version: '1' }), open()];
    return {
      client,
      start: () => client.connect(refused),
      finish: (callback: URLSearchParams) => refused.finishAuth(callback.get('code') ?? ''),
      connect: () => client.connect(open()),
    };
  },
  second(provider: Provider) {
    const open = () => new SecondTransport(new URL(`${identity.url}/mcp`), { authProvider: provider });
    const [client, refused] = [new SecondClient({ name, version: '1' }), open()];
    return {
      client,
      start: () => client.connect(refused),
      finish: (callback: URLSearchParams) => refused.finishAuth(callback),
      connect: () => client.connect(open()),
    };
  },
};

test.each(['first', 'second'] as const)(
  'the official client of the %s generation connects from nothing, calls a tool, and refreshes when its token has ended',
  async (generation) => {
    const { provider, kept, getCallback } = createProvider();
    const { client, start, finish, connect } = generations[generation](provider);
    await expect(start()).rejects.toThrow('Unauthorized');
    await finish(getCallback());
    await connect();
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
  },
);

test('the documented TypeScript program signs in, and prints the user', async () => {
  const sample = readSample('typescript', 'js').replace('41997', String(await findFreePort()));
  const args = ['--input-type=module', '-', `${identity.url}/mcp`];
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(sample);
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const address = String((await lines.next()).value).replace('Open ', '');
  const page = await fetchPatiently(await consentAt(browser, address));
  expect(await page.text()).toBe('You can close this page.');
  expect((await lines.next()).value).toBe('admin@example.com');
  expect((await exited)[0]).toBe(0);
});
