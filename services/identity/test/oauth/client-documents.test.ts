import { callUrl, type CallOptions } from '@platform/testing';
import type pg from 'pg';
import { deleteIdleClients, deleteUnusedClients } from '../../src/jobs/jobs.sql.js';
import { start, startIdentity } from '../identity.js';
import {
  type Browser,
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  openConsent,
  postForm,
  refresh,
} from './flow.js';

const claude = 'https://claude.ai/oauth/client.json';
/** The documents that the network has, and the addresses that were fetched. */
const documents = new Map<string, object>();
const fetched: string[] = [];
const toUrl = (input: Parameters<typeof fetch>[0]): string =>
  input instanceof Request ? input.url : String(input);
let browser: Browser;

const environment = { OAUTH_CLIENT_HOSTS: 'claude.ai,agents.example', OAUTH_REGISTRATION: 'on' };
const identity = await startIdentity({
  environment,
  fetchDocument: async (input) => {
    const url = toUrl(input);
    fetched.push(url);
    const document = documents.get(url);
    return document ? Response.json(document) : new Response('', { status: 404 });
  },
});

/** What the network answers to the other replica, which has read no document yet. */
let answerReplica: typeof fetch = fetch;
const other = await start(
  identity.databaseUrl,
  { ...environment, TRUST_PROXY: '127.0.0.1' },
  { fetchDocument: (...request) => answerReplica(...request) },
);
const replica = {
  url: other.url,
  call: (method: string, path: string, options?: CallOptions) => callUrl(other.url + path, method, options),
};
afterAll(async () => {
  await other.shutdown.run('test done');
  await identity.close();
});
// Each test may have clients read that nobody has connected.
beforeEach(async () => {
  for (const { advance } of [identity, other]) advance(60_000);
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

/** Connects a client, and returns what it gets. */
async function connectClient(id: string) {
  const authorization = createAuthorization(id);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  return exchangeCode(identity, authorization, code);
}

async function connect(id: string): Promise<string> {
  describeClient(id);
  return (await connectClient(id)).body.refresh_token as string;
}

test('OAUTH-7: a client with a document connects at any port, and is shown with its host', async () => {
  describeClient(claude);
  const { page } = await openConsent(browser, createAuthorization(claude));
  expect(page.text).toContain('<strong>claude.ai</strong>');
  expect(page.text).toContain('It calls itself &ldquo;Claude&rdquo;');
  const { status, body } = await connectClient(claude);
  expect([status, body.scope, typeof body.refresh_token]).toEqual([200, 'user:read crawl:read', 'string']);
  const own = await identity.call('GET', '/api/v1/connected-apps', { token: await identity.login() });
  const client = { id: claude, kind: 'document', name: 'Claude', host: 'claude.ai' };
  expect(own.body.data[0].client).toEqual(client);
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

test.each<[string, { readonly redirect_uris?: string[] }]>([
  ['names another client id', { client_id: claude } as object],
  ['redirects to another machine without TLS', { redirect_uris: ['http://elsewhere.example/callback'] }],
  ['redirects to a scheme of an app', { redirect_uris: ['evil:callback'] }],
  ['has no redirect URI', { redirect_uris: [] }],
  ['holds a secret', { client_secret: 'x', token_endpoint_auth_method: 'client_secret_basic' } as object],
  [
    'exempts itself from the rules',
    { platform_rules: 'application', redirect_uris: ['http://elsewhere.example/cb'] },
  ],
])('a document that %s is refused', async (what, fields) => {
  const id = `https://agents.example/${encodeURIComponent(what)}`;
  describeClient(id, fields);
  const [redirect] = fields.redirect_uris ?? [];
  const { url } = createAuthorization(id, redirect === undefined ? {} : { redirect_uri: redirect });
  expect((await browser.get(url)).status).toBe(400);
});

test('OAUTH-26: a document whose optional fields are null or empty is one without them', async () => {
  const id = 'https://agents.example/absent';
  describeClient(id, {
    client_uri: null,
    logo_uri: '',
    contacts: null,
    tos_uri: '',
    jwks: null,
    jwks_uri: '',
  });
  expect((await connectClient(id)).status).toBe(200);
});

test('a client whose document lists another response mode gets its code in the query', async () => {
  const id = 'https://agents.example/modes';
  describeClient(id, { response_modes: ['form_post'] });
  const target = await consent(browser, createAuthorization(id));
  expect(target.searchParams.get('code')).toEqual(expect.any(String));
});

test('a document cannot get the client credentials grant', async () => {
  const id = 'https://agents.example/greedy';
  describeClient(id, { grant_types: ['client_credentials', 'authorization_code'] });
  const form = { grant_type: 'client_credentials', client_id: id, scope: 'user:read' };
  expect((await postForm(identity, 'token', form)).body.error).toBe('invalid_request');
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

test.each<[string, typeof fetch]>([
  ['cannot be reached', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ['answers 500', async () => new Response('', { status: 500 })],
  ['answers with a page', async () => new Response('<h1>Maintenance</h1>')],
])('OAUTH-16: a connected client refreshes while its host %s, and a new one is 503', async (what, answer) => {
  const id = `https://agents.example/known/${encodeURIComponent(what)}`;
  const token = await connect(id);
  answerReplica = answer;
  const refreshed = await refresh(replica, id, token);
  expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'user:read crawl:read']);
  const unknown = 'https://agents.example/unknown';
  for (const refused of [
    await refresh(replica, unknown, token),
    await refresh(replica, unknown, token),
    await createBrowser(replica).get(createAuthorization(unknown).url),
  ])
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  expect((await refresh(replica, unknown, token)).body.error).toBe('temporarily_unavailable');
});

test('OAUTH-16: a connected client whose document is gone is refused', async () => {
  const id = 'https://agents.example/withdrawn';
  const token = await connect(id);
  answerReplica = async () => new Response('', { status: 404 });
  for (const _attempt of [1, 2])
    expect((await refresh(replica, id, token)).body.error).toBe('invalid_client');
});

const compare = (one: number, two: number): number => one - two;

test('OAUTH-17: clients that nobody has connected cause ten requests a minute from one address; others are not held up', async () => {
  const id = 'https://agents.example/busy';
  const token = await connect(id);
  const asked: string[] = [];
  answerReplica = async (input) => {
    asked.push(toUrl(input));
    return Response.json(documents.get(toUrl(input)) ?? {});
  };
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async (_value, index) => {
      const { url } = createAuthorization(`https://agents.example/any/${index}`);
      return (await replica.call('GET', url)).status;
    }),
  );
  expect(statuses.toSorted(compare)).toEqual([...Array(10).fill(400), 429, 429]);
  expect(asked).toHaveLength(10);
  expect((await refresh(replica, id, token)).status).toBe(200);
});

test('OAUTH-17: a site that has many IPv6 networks causes twenty such requests a minute', async () => {
  answerReplica = async () => Response.json({});
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async (_value, index) => {
      const { url } = createAuthorization(`https://agents.example/of-site/${index}`);
      const headers = { 'x-forwarded-for': `2001:db8:5:${(index % 12) + 1}::1` };
      return (await replica.call('GET', url, { headers })).status;
    }),
  );
  expect(statuses.toSorted(compare)).toEqual([...Array(20).fill(400), ...Array(4).fill(429)]);
});

describe('clients that describe themselves are kept as long as somebody uses them, and as the audit can name them', () => {
  /** Of the audit, as `AUDIT_RETENTION_DAYS` has it by default; a connection lasts 90 days. */
  const RETENTION_DAYS = 730;
  const documentId = 'https://agents.example/client.json';

  beforeEach(async () => {
    for (const table of ['oauth_access_tokens', 'oauth_artifacts', 'oauth_grants', 'oauth_clients'])
      await identity.db.query(`delete from ${table}`);
    describeClient(documentId);
  });

  async function register(): Promise<string> {
    const body = { client_name: 'Agent', redirect_uris: ['http://127.0.0.1/callback'] };
    return (await identity.call('POST', '/oauth2/register', { body })).body.client_id as string;
  }

  const listClients = async () =>
    (await identity.db.query<{ id: string }>('select id from oauth_clients order by id')).rows.map(
      ({ id }) => id,
    );

  /** Moves everything that clients have into the past, and deletes what is due. @returns the clients that are left. */
  async function passDays(days: number): Promise<string[]> {
    for (const [table, columns] of [
      ['oauth_clients', ['created_at', 'last_used_at']],
      ['oauth_grants', ['created_at', 'expires_at']],
      ['oauth_access_tokens', ['created_at', 'expires_at']],
      ['oauth_artifacts', ['expires_at']],
    ] as const) {
      const moved = columns.map((column) => `${column} = ${column} - make_interval(days => $1)`);
      await identity.db.query(`update ${table} set ${moved.join(', ')}`, [days]);
    }
    await identity.sweep();
    return listClients();
  }

  test('OAUTH-18: a client that describes itself is deleted with the records of its last connection', async () => {
    const [unused, connected, reconnected] = [await register(), await register(), await register()];
    for (const id of [connected, reconnected, documentId]) await connectClient(id);
    // Nobody has used a token: being connected is enough to be kept.
    expect(await passDays(2)).toEqual([connected, reconnected, documentId].toSorted());
    expect(await passDays(58)).not.toContain(unused);
    await connectClient(reconnected);
    expect(await passDays(RETENTION_DAYS + 30)).toEqual([connected, reconnected, documentId].toSorted());
    expect(await passDays(2)).toEqual([reconnected]);
    expect(await passDays(60)).toEqual([]);
    // A document is read again when somebody connects its client.
    await connectClient(documentId);
    expect(await listClients()).toEqual([documentId]);
  });

  test('a client that an operator has disabled stays, so that it stays disabled', async () => {
    await connectClient(documentId);
    await identity.db.query('update oauth_clients set disabled_at = now()');
    expect(await passDays(RETENTION_DAYS + 120)).toEqual([documentId]);
  });

  test('a client that is deleted while the consent page is open cannot be connected', async () => {
    const { path, csrf } = await openConsent(browser, createAuthorization(await register()));
    await identity.db.query(`update oauth_clients set created_at = now() - interval '2 days'`);
    await identity.sweep();
    const { status } = await browser.post(path, { csrf, decision: 'allow', scope: 'user:read' });
    expect([status, await listClients()]).toEqual([400, []]);
  });

  /** Fills the tables, in a transaction that is not committed, with what other clients have. */
  async function fill(db: pg.PoolClient): Promise<void> {
    await db.query(
      `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at, last_used_at)
     select gen_random_uuid()::text, 'registered', 'live', '{}', '{}', '{}', 'none', now(), now() from generate_series(1, 3000)`,
    );
    await db.query(
      `insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at, revoked_at)
     select gen_random_uuid(), u.org_id, u.id, c.id, 'r', '{}', now(), now(), now() from oauth_clients c cross join users u`,
    );
    await db.query(
      `insert into oauth_access_tokens (id, client_id, grant_id, scopes, audiences, token_hash, created_at, expires_at, revoked_at)
     select gen_random_uuid(), client_id, id, '{}', '{}', 'x', now(), now(), now() from oauth_grants`,
    );
    await db.query(
      `insert into oauth_client_secrets (id, client_id, secret_hash, created_at, revoked_at)
     select gen_random_uuid(), id, 'x', now(), now() from oauth_clients`,
    );
    await db.query(
      `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at, last_used_at)
     select 'due ' || n, 'registered', 'due', '{}', '{}', '{}', 'none', '2020-01-01',
       case when n % 2 = 0 then '2020-01-02'::timestamptz end from generate_series(1, 20) n`,
    );
    await db.query('analyze oauth_clients, oauth_grants, oauth_access_tokens, oauth_client_secrets');
  }

  test('clients are deleted without scanning a table', async () => {
    const db = await identity.db.connect();
    const scans = `select relname, seq_scan from pg_stat_xact_user_tables where relname like 'oauth_%' order by 1`;
    try {
      await db.query('begin');
      await fill(db);
      const before = (await db.query(scans)).rows;
      const deletions = [];
      for (const remove of [deleteUnusedClients, deleteIdleClients])
        deletions.push(await remove(db as unknown as pg.Pool, new Date('2021-01-01'), 1_000));
      expect(deletions).toEqual([10, 10]);
      expect((await db.query(scans)).rows).toEqual(before);
    } finally {
      await db.query('rollback');
      db.release();
    }
  });
});
