import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { createMounts } from './platform.js';
import { createPeople } from './signing-in.js';

/* MCP-89: servers, and authorization servers that they name, which lie about themselves. */

// An operator who lets servers run at one address of this machine, and at no other one.
const identity = await startIdentity({ environment: { MCP_SERVER_ALLOWED_TARGETS: '127.0.0.1/32' } });
const session = await identity.login();
const mounts = createMounts(identity, session);
const people = createPeople(identity, session);
const CALLBACK = 'http://127.0.0.1:8080/oauth2/upstream/callback';

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;
async function listen(host: string, handle: Handle) {
  const server = createServer((request, response) => {
    void request.toArray().then((parts) => handle(request, response, Buffer.concat(parts).toString()));
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    countConnections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
const toJson = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

type Liar = Awaited<ReturnType<typeof startLiar>>;

/** A server with its authorization server at the same origin; each answer can be replaced. */
async function startLiar() {
  /** What a path answers instead of the truth. */
  const lies: Record<string, (response: ServerResponse, body: string) => void> = {};
  let origin = '';
  const state = { token: 'the-access-token', seen: [] as string[] };
  const truth: Record<string, () => object> = {
    '/.well-known/oauth-protected-resource/mcp': () => ({
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
    }),
    '/.well-known/oauth-authorization-server': () => ({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      revocation_endpoint: `${origin}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    }),
    '/register': () => ({
      client_id: 'the-client',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    }),
    '/token': () => ({
      access_token: state.token,
      token_type: 'Bearer',
      refresh_token: 'the-refresh-token',
      expires_in: 300,
    }),
    '/revoke': () => ({}),
  };
  const server = await listen('127.0.0.1', (request, response, body) => {
    const path = request.url ?? '';
    state.seen.push(path);
    if (lies[path]) return lies[path](response, body);
    if (truth[path]) return toJson(response, truth[path]());
    const isKnown = request.headers.authorization === `Bearer ${state.token}`;
    if (path !== '/mcp' || !isKnown)
      return void response
        .writeHead(401, {
          'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
        })
        .end();
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'a', version: '1' },
      },
      'tools/list': { tools: [{ name: 'search', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'found' }] },
    };
    return id === undefined
      ? void response.writeHead(202).end()
      : toJson(response, { jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} });
  });
  origin = server.url;
  return {
    ...server,
    state,
    lies,
    /** Replaces members of what a path answers. */
    change(path: string, members: object): void {
      lies[path] = (response) => toJson(response, { ...truth[path]?.(), ...members });
    },
    become: () => undefined,
    authorize: (url: string) => {
      const { searchParams } = new URL(url);
      return Promise.resolve(new URL(`${CALLBACK}?code=a-code&state=${searchParams.get('state')}`));
    },
  };
}
const METADATA = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource/mcp';

let liar: Liar;
let inside: Awaited<ReturnType<typeof listen>>;
beforeEach(async () => {
  liar = await startLiar();
  inside = await listen('127.0.0.2', (_request, response) => toJson(response, {}));
});
afterEach(async () => {
  await mounts.removeAll();
  await liar.close();
  await inside.close();
});
afterAll(() => identity.close());

const mount = () => mounts.mount(`${liar.url}/mcp`, { credential: { kind: 'oauth' } });
const beginAt = async (id: string) => {
  const { browser } = await people.createPerson('ada');
  const { status, body } = await browser.call('POST', `/api/v1/mcp-servers/${id}/my-credential/sign-in`);
  return [status, body.error?.code ?? body.url];
};

test.each<[string, () => void]>([
  ['its resource metadata name an authorization server', () => liar.change(RESOURCE, { authorization_servers: [inside.url] })],
  ['its challenge names metadata', () => {
    liar.lies['/mcp'] = (response) =>
      void response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${inside.url}/m"` }).end();
    liar.lies[RESOURCE] = (response) => void response.writeHead(404).end();
    liar.change(METADATA, { registration_endpoint: `${inside.url}/register` });
  }],
  ['its resource metadata lead on to', () => {
    liar.lies[RESOURCE] = (response) => void response.writeHead(302, { location: `${inside.url}/m` }).end();
    liar.change(METADATA, { registration_endpoint: `${inside.url}/register` });
  }],
  ['the metadata of its authorization server lead on to', () => {
    for (const path of [METADATA, `${METADATA}/`, '/.well-known/openid-configuration'])
      liar.lies[path] = (response) => void response.writeHead(307, { location: `${inside.url}/m` }).end();
  }],
  ['clients are to register', () => liar.change(METADATA, { registration_endpoint: `${inside.url}/register` })],
  ['registration leads on to', () => {
    liar.lies['/register'] = (response) => void response.writeHead(307, { location: `${inside.url}/register` }).end();
  }],
] as const)('MCP-89 nothing is asked at an address that the operator does not allow, where %s', async (_where, lie) => {
  lie();
  expect(await beginAt(await mount())).toEqual([502, 'SIGN_IN_FAILED']);
  expect(inside.countConnections()).toBe(0);
}); // oxfmt-ignore

test.each([
  ['tokens', { token_endpoint: '/token' }],
  ['revocations', { revocation_endpoint: '/revoke' }],
] as const)(
  'MCP-89 neither are %s',
  async (what, endpoints) => {
    const [[name, path] = ['', '']] = Object.entries(endpoints);
    // The client gives tokens to nobody without TLS but this machine's usual address.
    liar.change(METADATA, { [name]: inside.url.replace('http:', 'https:') + path });
    const id = await mount();
    const ada = await people.createPerson('ada');
    const outcome = await people.signIn(ada, id, liar);
    expect(outcome).toContain(what === 'tokens' ? 'signIn=failed' : 'signIn=connected');
    await ada.browser.call('DELETE', `/api/v1/mcp-servers/${id}/my-credential`);
    if (what === 'revocations')
      await waitFor(() => identity.logged().includes('failed to revoke tokens'), { what: 'the attempt' });
    expect(inside.countConnections()).toBe(0);
  },
  30_000,
);

test.each<[string, () => void]>([
  ['metadata of another issuer', () => liar.change(METADATA, { issuer: 'https://login.example.com' })],
  ['another resource than itself', () => liar.change(RESOURCE, { resource: 'https://mail.example.com/mcp' })],
  ['a page that is a program', () => liar.change(METADATA, { authorization_endpoint: 'javascript:alert(1)' })],
  ['metadata without end', () => {
    liar.lies[METADATA] = (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"issuer":"${'a'.repeat(1_000_000)}"}`);
  }],
  ['metadata that are a list', () => {
    liar.lies[METADATA] = (response) => toJson(response, []);
  }],
] as const)('MCP-89 nobody is sent to sign in at a server with %s', async (_what, lie) => {
  lie();
  expect(await beginAt(await mount())).toEqual([502, 'SIGN_IN_FAILED']);
}); // oxfmt-ignore

test.each<[string, string]>([
  ['with a line break', 'a-token\r\nx-injected: 1'],
  ['beyond ASCII', 'a-token-\u{1f512}'],
  ['longer than a header', 'a-long-token'.repeat(8_000)],
  ['that is empty', ''],
])('MCP-89 an access token %s is not accepted, and is in no log', async (_what, token) => {
  liar.state.token = token;
  const id = await mount();
  const ada = await people.createPerson('ada');
  expect(await people.signIn(ada, id, liar)).toBe(`/account/services/${id}?signIn=failed`);
  for (const part of ['a-token', 'a-long-token']) expect(identity.logged().includes(part)).toBe(false);
});

test('MCP-89 neither is one of a renewal, and the tokens before go on until they expire', async () => {
  const id = await mount();
  const ada = await people.createPerson('ada', 'admin');
  await people.signIn(ada, id, liar);
  const test = async () =>
    (await ada.browser.call('POST', `/api/v1/mcp-servers/${id}/my-credential/test`)).body.isUsable;
  liar.change('/token', { access_token: 'another-token\r\nx-injected: 1' });
  identity.advance(250_000);
  expect(await test()).toBe(true);
  identity.advance(60_000);
  expect(await test()).toBe(false);
  expect(identity.logged().includes('another-token')).toBe(false);
});

test('MCP-91 a client that an authorization server has forgotten is registered again with the next sign-in', async () => {
  const id = await mount();
  const ada = await people.createPerson('ada');
  const countRegistrations = () => liar.state.seen.filter((path) => path === '/register').length;
  for (const _ of [1, 2]) await people.signIn(ada, id, liar);
  expect(countRegistrations()).toBe(1);
  // The browser does not come back from a page that says that the client is unknown.
  await people.begin(ada, id);
  await people.signIn(ada, id, liar);
  expect(countRegistrations()).toBe(2);
  await people.signIn(ada, id, liar);
  expect(countRegistrations()).toBe(2);
  liar.lies['/token'] = (response) => toJson(response, { error: 'invalid_client' }, 401);
  expect(await people.signIn(ada, id, liar)).toContain('signIn=failed');
  delete liar.lies['/token'];
  expect(await people.signIn(ada, id, liar)).toContain('signIn=connected');
  expect(countRegistrations()).toBe(3);
});

test('MCP-90 an account begins twenty sign-ins in a minute, and other accounts their own', async () => {
  const id = await mount();
  const [ada, ben] = [await people.createPerson('ada'), await people.createPerson('ben')];
  const beginAs = async ({ browser }: typeof ada) =>
    (await browser.call('POST', `/api/v1/mcp-servers/${id}/my-credential/sign-in`)).status;
  const statuses: number[] = [];
  for (let count = 0; count < 30; count += 1) statuses.push(await beginAs(ada));
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(statuses).toContain(429);
  expect(await beginAs(ben)).toBe(200);
});

test('MCP-89 what an authorization server says of a fault is in no log and no answer', async () => {
  const id = await mount();
  const ada = await people.createPerson('ada');
  liar.lies['/token'] = (response, body) =>
    toJson(
      response,
      { error: 'invalid_grant', error_description: `SECRET ${body}`, error_uri: 'https://SECRET' },
      400,
    );
  expect(await people.signIn(ada, id, liar)).toBe(`/account/services/${id}?signIn=failed`);
  for (const part of ['SECRET', 'a-code', 'code_verifier'])
    expect(identity.logged().includes(part)).toBe(false);
});
