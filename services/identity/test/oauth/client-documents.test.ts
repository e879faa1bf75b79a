import { callUrl } from '@platform/testing';
import { start, startIdentity } from '../identity.js';
import { type Browser, consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

const clientId = 'https://claude.ai/oauth/client.json';
/** The documents that the network has, and the addresses that were fetched. */
const documents = new Map<string, object>();
const fetched: string[] = [];
let browser: Browser;

const identity = await startIdentity({
  environment: { OAUTH_CLIENT_HOSTS: 'claude.ai,agents.example' },
  fetchDocument: async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    fetched.push(url);
    const document = documents.get(url);
    return document ? Response.json(document) : new Response('', { status: 404 });
  },
});
afterAll(() => identity.close());
// Each test may have clients read that nobody has connected.
beforeEach(async () => {
  identity.advance(60_000);
  browser = createBrowser(identity);
  await browser.signIn();
});

const describeClient = (id: string, fields: object = {}) =>
  documents.set(id, {
    client_id: id,
    client_name: 'Claude',
    redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
    scope: 'openid user:read crawl:read offline_access',
    ...fields,
  });

test('OAUTH-7: a client with a document connects at any port, and is shown with its host', async () => {
  describeClient(clientId);
  const authorization = createAuthorization(clientId);
  const started = await browser.get(authorization.url);
  const page = await browser.get(browser.getLocation(started));
  expect(page.text).toContain('<strong>claude.ai</strong>');
  expect(page.text).toContain('It calls itself &ldquo;Claude&rdquo;');
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const { status, body } = await exchangeCode(identity, authorization, code);
  expect([status, body.scope, typeof body.refresh_token]).toEqual([200, 'user:read crawl:read', 'string']);
  const own = await identity.call('GET', '/api/v1/connected-apps', { token: await identity.login() });
  expect(own.body.data[0].client).toEqual({
    id: clientId,
    kind: 'document',
    name: 'Claude',
    host: 'claude.ai',
  });
});

test.each([
  ['a host that is not listed', 'https://evil.example/client.json'],
  ['a host that ends with a listed one', 'https://not-claude.ai/client.json'],
  ['a host below a listed one', 'https://x.claude.ai/client.json'],
  ['another port', 'https://claude.ai:8443/client.json'],
])('the document of %s is not fetched', async (_what, id) => {
  describeClient(id);
  expect((await browser.get(createAuthorization(id).url)).status).toBe(400);
  expect(fetched).not.toContain(id);
});

test.each([
  ['names another client id', { client_id: clientId }],
  ['redirects to another machine without TLS', { redirect_uris: ['http://elsewhere.example/callback'] }],
  ['redirects to a scheme of an app', { redirect_uris: ['evil:callback'] }],
  ['has no redirect URI', { redirect_uris: [] }],
  ['holds a secret', { client_secret: 'x', token_endpoint_auth_method: 'client_secret_basic' }],
  [
    'exempts itself from the rules',
    { platform_rules: 'application', redirect_uris: ['http://elsewhere.example/cb'] },
  ],
])('a document that %s is refused', async (what, fields) => {
  const id = `https://agents.example/${encodeURIComponent(what)}`;
  describeClient(id, fields);
  const redirect = (fields as { redirect_uris?: string[] }).redirect_uris?.[0];
  const { url } = createAuthorization(id, redirect === undefined ? {} : { redirect_uri: redirect });
  expect((await browser.get(url)).status).toBe(400);
});

test('a document that could not be fetched is not requested again for half a minute', async () => {
  const id = 'https://agents.example/missing';
  const ask = async () => (await browser.get(createAuthorization(id).url)).status;
  const countFetches = () => fetched.filter((url) => url === id).length;
  expect([await ask(), await ask(), countFetches()]).toEqual([400, 400, 1]);
  identity.advance(31_000);
  describeClient(id);
  expect([await ask(), countFetches()]).toEqual([303, 2]);
});

/** Starts another replica, which has read no document yet, on a network of its own. */
const startReplica = (fetchDocument: typeof fetch) =>
  start(identity.databaseUrl, { OAUTH_CLIENT_HOSTS: 'claude.ai,agents.example' }, { fetchDocument });
type Replica = Awaited<ReturnType<typeof startReplica>>;

const refreshAt = ({ url }: Replica, client: string, token: string) =>
  callUrl(`${url}/oauth2/token`, 'POST', {
    raw: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: client,
      refresh_token: token,
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

async function connect(id: string): Promise<string> {
  describeClient(id);
  const authorization = createAuthorization(id);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  return (await exchangeCode(identity, authorization, code)).body.refresh_token as string;
}

test.each<[string, typeof fetch]>([
  ['cannot be reached', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ['answers 500', async () => new Response('', { status: 500 })],
  ['answers with a page', async () => new Response('<h1>Maintenance</h1>')],
])(
  'OAUTH-7: a connected client refreshes while its host %s, and a new one is 503',
  async (what, fetchDocument) => {
    const id = `https://agents.example/known/${encodeURIComponent(what)}`;
    const token = await connect(id);
    const replica = await startReplica(fetchDocument);
    try {
      const refreshed = await refreshAt(replica, id, token);
      expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'user:read crawl:read']);
      const unknown = 'https://agents.example/unknown';
      for (const answer of [
        await refreshAt(replica, unknown, token),
        await refreshAt(replica, unknown, token),
        await createBrowser(replica).get(createAuthorization(unknown).url),
      ])
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
      expect((await refreshAt(replica, unknown, token)).body.error).toBe('temporarily_unavailable');
    } finally {
      await replica.shutdown.run('test done');
    }
  },
);

test('OAUTH-7: a connected client whose document is gone is refused', async () => {
  const id = 'https://agents.example/withdrawn';
  const token = await connect(id);
  const replica = await startReplica(async () => new Response('', { status: 404 }));
  try {
    for (const _attempt of [1, 2]) {
      const { status, body } = await refreshAt(replica, id, token);
      expect([status, body.error]).toEqual([400, 'invalid_client']);
    }
  } finally {
    await replica.shutdown.run('test done');
  }
});

test('OAUTH-7: clients that nobody has connected cause ten requests a minute from one address; others are not held up', async () => {
  const id = 'https://agents.example/busy';
  const token = await connect(id);
  const asked: string[] = [];
  const replica = await startReplica(async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    asked.push(url);
    return Response.json(documents.get(url) ?? {});
  });
  try {
    const stranger = createBrowser(replica);
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1)
      statuses.push(
        (await stranger.get(createAuthorization(`https://agents.example/any/${count}`).url)).status,
      );
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
    expect(asked).toHaveLength(10);
    expect((await refreshAt(replica, id, token)).status).toBe(200);
  } finally {
    await replica.shutdown.run('test done');
  }
});

test('OAUTH-7: a site that has many IPv6 networks causes twenty such requests a minute', async () => {
  const replica = await start(
    identity.databaseUrl,
    { OAUTH_CLIENT_HOSTS: 'agents.example', TRUST_PROXY: '127.0.0.1' },
    { fetchDocument: async () => Response.json({}) },
  );
  try {
    const statuses: number[] = [];
    for (let count = 0; count < 24; count += 1) {
      const url = `${replica.url}/oauth2/authorize?${new URL(createAuthorization(`https://agents.example/of-site/${count}`).url, replica.url).search.slice(1)}`;
      const headers = { 'x-forwarded-for': `2001:db8:5:${(count % 12) + 1}::1` };
      statuses.push((await callUrl(url, 'GET', { headers })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 400), ...Array.from({ length: 4 }, () => 429)]);
  } finally {
    await replica.shutdown.run('test done');
  }
}); // prettier-ignore

test('a client whose document lists another response mode gets its code in the query', async () => {
  const id = 'https://agents.example/modes';
  describeClient(id, { response_modes: ['form_post'] });
  const target = await consent(browser, createAuthorization(id));
  expect(target.searchParams.get('code')).toEqual(expect.any(String));
});

test('a document cannot get the client credentials grant', async () => {
  const id = 'https://agents.example/greedy';
  describeClient(id, { grant_types: ['client_credentials', 'authorization_code'] });
  const { body } = await identity.call('POST', '/oauth2/token', {
    raw: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      scope: 'user:read',
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(body.error).toBe('invalid_request');
});
