import type pg from 'pg';
import { deleteIdleClients, deleteUnusedClients } from '../../src/jobs/queries.js';
import { startIdentity } from '../identity.js';
import { consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

/* Clients that describe themselves are kept as long as somebody uses them, and as the audit can name them. */

/** Of the audit, as `AUDIT_RETENTION_DAYS` has it by default; a connection lasts 90 days. */
const RETENTION_DAYS = 730;
const documentId = 'https://agents.example/client.json';

const identity = await startIdentity({
  environment: { OAUTH_REGISTRATION: 'on', OAUTH_CLIENT_HOSTS: 'agents.example' },
  fetchDocument: async () =>
    Response.json({
      client_id: documentId,
      client_name: 'Agent',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }),
});
afterAll(() => identity.close());
afterEach(async () => {
  for (const table of ['oauth_access_tokens', 'oauth_artifacts', 'oauth_grants', 'oauth_clients'])
    await identity.db.query(`delete from ${table}`);
});

async function register(): Promise<string> {
  const { body } = await identity.call('POST', '/oauth2/register', {
    body: { client_name: 'Agent', redirect_uris: ['http://127.0.0.1/callback'] },
  });
  return body.client_id as string;
}

async function connect(clientId: string): Promise<void> {
  const browser = createBrowser(identity);
  await browser.signIn();
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
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

test('OAUTH-7: a client that describes itself is deleted with the records of its last connection', async () => {
  const [unused, connected, reconnected] = [await register(), await register(), await register()];
  for (const id of [connected, reconnected, documentId]) await connect(id);
  // Nobody has used a token: being connected is enough to be kept.
  expect(await passDays(2)).toEqual([connected, reconnected, documentId].toSorted());
  expect(await passDays(58)).not.toContain(unused);
  await connect(reconnected);
  expect(await passDays(RETENTION_DAYS + 30)).toEqual([connected, reconnected, documentId].toSorted());
  expect(await passDays(2)).toEqual([reconnected]);
  expect(await passDays(60)).toEqual([]);
  // A document is read again when somebody connects its client.
  await connect(documentId);
  expect(await listClients()).toEqual([documentId]);
});

test('a client that an operator has disabled stays, so that it stays disabled', async () => {
  await connect(documentId);
  await identity.db.query('update oauth_clients set disabled_at = now()');
  expect(await passDays(RETENTION_DAYS + 120)).toEqual([documentId]);
});

test('a client that is deleted while the consent page is open cannot be connected', async () => {
  const id = await register();
  const browser = createBrowser(identity);
  await browser.signIn();
  const page = browser.getLocation(await browser.get(createAuthorization(id).url));
  const csrf = browser.getFormToken(await browser.get(page));
  await identity.db.query(`update oauth_clients set created_at = now() - interval '2 days'`);
  await identity.sweep();
  const { status } = await browser.post(page, { csrf, decision: 'allow', scope: 'user:read' });
  expect([status, await listClients()]).toEqual([400, []]);
});

/** Fills the tables, in a transaction that is not committed, with what other clients have. */
async function fill(db: pg.PoolClient): Promise<void> {
  await db.query(
    `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at, last_used_at)
     select gen_random_uuid()::text, 'registered', 'live', '{}', '{}', '{}', 'none', now(), now() from generate_series(1, 20000)`,
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
  try {
    await db.query('begin');
    await fill(db);
    const readScans = async () =>
      (
        await db.query(
          `select relname, seq_scan from pg_stat_xact_user_tables where relname like 'oauth_%' order by 1`,
        )
      ).rows;
    const before = await readScans();
    const deletions = [];
    for (const remove of [deleteUnusedClients, deleteIdleClients])
      deletions.push(await remove(db as unknown as pg.Pool, new Date('2021-01-01'), 1_000));
    expect(deletions).toEqual([10, 10]);
    expect(await readScans()).toEqual(before);
  } finally {
    await db.query('rollback');
    db.release();
  }
});
