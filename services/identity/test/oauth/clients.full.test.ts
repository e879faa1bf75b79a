import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensureInspector, ensurePythonMcp, waitFor } from '@platform/testing';
import * as oauth from 'oauth4webapi';
import { createAgentApplication, createApplication } from './applications.js';
import { type Browser, consentAt, createBrowser } from './flow.js';
import { startPublicIdentity } from './public-identity.js';

/* Clients of others, each from nothing: they find, register and authorise themselves. */

const { identity } = await startPublicIdentity({ OAUTH_REGISTRATION: 'on' });
const folder = await mkdtemp(join(tmpdir(), 'clients-'));
afterAll(async () => {
  await identity.close();
  await rm(folder, { recursive: true, force: true });
});
let browser: Browser;
// Time passes in these tests, and a connection needs a recent sign-in (AUTH-57).
beforeEach(async () => {
  browser = createBrowser(identity, identity.url);
  await browser.signIn();
});

const MCP = `${identity.url}/mcp`;
const person = {
  user: { email: 'admin@example.com' },
  credential: { kind: 'oauth', scopes: ['user:read', 'kb:read'] },
};

/** Opens the address that a browser is sent to. A program may listen there only after it has printed where to sign in. */
const fetchPatiently = (address: URL): Promise<Response> =>
  waitFor(() => fetch(address).catch(() => undefined), { what: 'the callback of the program' });

/** Runs a program, and opens the address to sign in at that it prints, as a browser does. @returns what it prints. */
function runWithBrowser(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, args, { env, timeout: 60_000 }, (_error, stdout) => {
      resolve(stdout);
    });
    let printed = '';
    let isOpened = false;
    const read = (chunk: string): void => {
      printed += chunk;
      const address = /(http\S+\/oauth2\/authorize\?\S+)\s/.exec(printed)?.[1];
      if (address === undefined || isOpened) return;
      isOpened = true;
      consentAt(browser, address)
        .then(fetchPatiently)
        .catch((error: Error) => {
          child.kill();
          reject(error);
        });
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

test('OAUTH-12: a certified client library discovers the endpoints, binds a token to its key, and uses it', async () => {
  // oxlint-disable-next-line typescript/no-deprecated -- marked so that nobody leaves it on: the test has no TLS
  const insecurely = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(`${identity.url}/oauth2`);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecurely });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  expect(server.dpop_signing_alg_values_supported).toEqual(['ES256', 'Ed25519', 'EdDSA']);
  const { application, clientSecret } = await createApplication(identity, await identity.login());
  const client = { client_id: application.clientId };
  const options = { DPoP: oauth.DPoP({}, await oauth.generateKeyPair('ES256')), ...insecurely };
  const request = (secret: string) =>
    oauth.clientCredentialsGrantRequest(server, client, oauth.ClientSecretBasic(secret), {}, options);
  const answer = await oauth.processClientCredentialsResponse(server, client, await request(clientSecret));
  expect(answer.token_type).toBe('dpop');
  const target = new URL(`${identity.url}/api/v1/users`);
  const token = answer.access_token;
  const users = await oauth.protectedResourceRequest(token, 'GET', target, undefined, null, options);
  expect(users.status).toBe(200);
  const refused = oauth.processClientCredentialsResponse(server, client, await request('wrong'));
  await expect(refused).rejects.toMatchObject({ status: 401 });
});

test('every scenario of the official conformance suite for authorization servers passes', async () => {
  const suite = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')));
  const onNode20 = join(import.meta.dirname, '../fixtures/conformance-on-node-20.mjs');
  const scenarios = ['authorization-code-grant', 'authorization-server-metadata-endpoint'];
  const clientId = await createAgentApplication(identity, await identity.login());
  const output = join(folder, 'conformance');
  const program = ['--import', onNode20, join(suite, 'dist/index.js'), 'authorization'];
  const where = ['--url', `${identity.url}/oauth2`, '--resource', MCP, '--output-dir', output];
  const client = ['--client-id', clientId, '--port', String(await findFreePort())];
  await runWithBrowser([...program, ...where, ...client]);
  const results = await readdir(output);
  const run = results.map((name) => scenarios.find((scenario) => name.includes(scenario)));
  expect(new Set(run)).toEqual(new Set(scenarios));
  for (const name of results) {
    const checks = JSON.parse(await readFile(join(output, name, 'checks.json'), 'utf8')) as {
      status: string;
      errorMessage?: string;
    }[];
    for (const { status, errorMessage } of checks) expect(errorMessage ?? status).toBe('SUCCESS');
  }
});

const REDIRECT_URI = 'http://127.0.0.1:41999/callback';
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

const info = { name: 'test', version: '1' };
/** Each opens a client with a transport that authenticates, and finishes the flow from the address it was sent to. */
const generations = {
  first(authProvider: Provider) {
    const open = () => new FirstTransport(new URL(MCP), { authProvider });
    const [client, refused] = [new FirstClient(info), open()];
    return {
      client,
      start: () => client.connect(refused),
      finish: (callback: URLSearchParams) => refused.finishAuth(callback.get('code') ?? ''),
      connect: () => client.connect(open()),
    };
  },
  second(authProvider: Provider) {
    const open = () => new SecondTransport(new URL(MCP), { authProvider });
    const [client, refused] = [new SecondClient(info), open()];
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
    expect(structuredContent).toMatchObject(person);
    const before = kept['tokens'];
    identity.advance(601_000);
    await client.callTool({ name: 'whoami', arguments: {} });
    expect(kept['tokens']).not.toEqual(before);
    await client.close();
  },
);

/** Returns the programs on a page of `docs/connect`, so that what people copy is what the tests run. */
function readSamples(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, `../../../../docs/connect/${page}.md`), 'utf8');
  return [...text.matchAll(/```(?:js|python)\n(.*?)```/gs)].map(([, code = '']) => code);
}

/** Starts a documented program, and reads the lines that it prints. */
function startProgram(program: string, args: readonly string[], cwd: string, input = '') {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { exited, readLine: async () => String((await lines.next()).value) };
}

/** Signs in where a program prints, and expects what it prints then. */
async function expectSignIn({ readLine, exited }: ReturnType<typeof startProgram>): Promise<void> {
  const address = (await readLine()).replace('Open ', '');
  const page = await fetchPatiently(await consentAt(browser, address));
  expect(await page.text()).toBe('You can close this page.');
  expect(await readLine()).toBe('admin@example.com');
  expect((await exited)[0]).toBe(0);
}

test('the documented TypeScript program signs in, and prints the user', async () => {
  const [sample = ''] = readSamples('typescript');
  const program = sample.replace('41997', String(await findFreePort()));
  const args = ['--input-type=module', '-', MCP];
  await expectSignIn(startProgram(process.execPath, args, join(import.meta.dirname, '../..'), program));
});

describeWith('python-mcp', 'the Python SDK', () => {
  const [sample = '', withoutPerson = ''] = readSamples('python');

  test('the documented program signs in once, also when it is started again and its access token has expired', async () => {
    const program = sample.replace('41998', String(await findFreePort()));
    const python = await ensurePythonMcp();
    const start = () => startProgram(python, ['-c', program, MCP], folder);
    await expectSignIn(start());
    // Time passes for identity, and for the program by what it has stored.
    identity.advance(11 * 60_000);
    const file = join(folder, 'tokens.json');
    const stored = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...stored, expires_at: 1 }));
    expect(await start().readLine()).toBe('admin@example.com');
  });

  test('the documented provider with client credentials acts as a service account', async () => {
    const { application, clientSecret } = await createApplication(identity, await identity.login());
    const values = JSON.stringify([application.clientId, clientSecret, identity.url]);
    const [imports = '', , provider = ''] = withoutPerson.split('\n');
    const program = sample
      .replace(/provider = OAuthClientProvider\(.*\)/, provider)
      .replace('["user"]["email"]', '["serviceAccount"]["name"]');
    const code = `${imports}\nCLIENT_ID, CLIENT_SECRET, BASE = ${values}\n${program}`;
    // Another folder: the program keeps its tokens in its own.
    const cwd = await mkdtemp(join(folder, 'service-'));
    const { readLine } = startProgram(await ensurePythonMcp(), ['-c', code, MCP], cwd);
    expect(await readLine()).toBe('Nightly sync');
  });
});

describeWith('inspector', 'the MCP Inspector', () => {
  test('signs in from nothing and calls a tool', async () => {
    const callback = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
    const method = ['--method', 'tools/call', '--tool-name', 'whoami', '--callback-url', callback];
    const options = ['--transport', 'http', '--format', 'json', '--protocol-era', 'modern', '--relogin'];
    const program = [await ensureInspector(), '--cli', MCP];
    // Without a terminal, it signs in only when it may open a browser.
    const env = { PATH: process.env['PATH'], HOME: folder, MCP_AUTO_OPEN_ENABLED: 'true', BROWSER: 'true' };
    const answer = JSON.parse(await runWithBrowser([...program, ...options, ...method], env));
    expect(answer.result.structuredContent).toMatchObject(person);
  });
});
