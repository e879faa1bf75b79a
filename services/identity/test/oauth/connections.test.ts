import { waitFor } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createAgentApplication } from './applications.js';
import { startWithApplication } from './connected-application.js';
import { exchangeCode, listTools, postForm, refresh, supersede } from './flow.js';

// Alerts are stored, and sent nowhere.
const running = await startWithApplication({ MAIL_URL: 'http://127.0.0.1:9' });
const { identity, session, clientId, connect } = running;
afterAll(() => running.close());
type Connection = Awaited<ReturnType<typeof connect>>;

const decode = createDecoder();

test('owners and administrators see connected apps and end them at once', async () => {
  const { token, refreshToken } = await connect();
  await identity.db.query('update oauth_grants set last_address = null');
  await refresh(identity, clientId, refreshToken);
  const own = await identity.call('GET', '/api/v1/connected-apps', { token: session });
  const [app] = own.body.data;
  expect(app).toMatchObject({
    client: { id: clientId, kind: 'application', name: 'Desk agent', host: null },
    scopes: ['user:read', 'crawl:read'],
    lastAddress: '127.0.0.1',
  });
  const all = await identity.call('GET', '/api/v1/connected-apps/admin', { token: session });
  expect(all.body.data[0]).toMatchObject({ id: app.id, owner: { email: 'admin@example.com' } });
  const { session: member } = await identity.createMember(session);
  const end = async (by: string) =>
    (await identity.call('DELETE', `/api/v1/connected-apps/${app.id}`, { token: by })).status;
  expect(await end(member)).toBe(404);
  expect(await end(session)).toBe(200);
  expect(await listTools(identity, token)).toBe(401);
  const audit = await identity.call('GET', `/api/v1/audit?subjectId=${app.id}`, { token: session });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'connected_app.revoked',
    'connected_app.authorized',
  ]);
  // Facts have their places a moment later.
  const readFacts = async (): Promise<{ type: string; data: { subjectId: string } }[]> => {
    const types = 'types=app.connected,app.disconnected';
    const { body } = await identity.call('GET', `/api/v1/events?limit=100&${types}`, { token: session });
    return body.data.filter(({ data }: { data: { subjectId: string } }) => data.subjectId === app.id);
  };
  const facts = await waitFor(
    async () => {
      const found = await readFacts();
      return found.length >= 2 && found;
    },
    { what: 'the facts' },
  );
  expect(facts.map(({ type }) => type)).toEqual(['app.connected', 'app.disconnected']);
});

test('a tool call is attributed to the client, and is the last use of its connection', async () => {
  const { token } = await connect();
  await createCaller(identity, token).legacy('tools/call', { name: 'whoami', arguments: {} });
  const { jti, sub } = decode(token);
  const find = 'select client_id, user_id, tool from tool_calls where credential_id = $1';
  const calls = await waitFor(
    async () => {
      const { rows } = await identity.db.query(find, [jti]);
      return rows.length > 0 && rows;
    },
    { what: 'the record of the call' },
  );
  expect(calls).toEqual([{ client_id: clientId, user_id: sub, tool: 'whoami' }]);
  const isUsed = async () => {
    const { body } = await identity.call('GET', '/api/v1/connected-apps', { token: session });
    return body.data[0].lastUsedAt !== null;
  };
  await waitFor(isUsed, { what: 'the last use of the connection' });
});

test('no connection outlives its grant, however often it is refreshed', async () => {
  const { refreshToken } = await connect();
  await identity.db.query(`update oauth_grants set expires_at = now() + interval '5 seconds'`);
  const refreshed = await refresh(identity, clientId, refreshToken);
  expect(refreshed.body.expires_in).toBeLessThanOrEqual(5);
  await identity.db.query(`update oauth_grants set expires_at = now() - interval '1 second'`);
  const late = await refresh(identity, clientId, refreshed.body.refresh_token as string);
  expect(late.body.error).toBe('invalid_grant');
});

test('another client cannot revoke a token', async () => {
  const { token } = await connect();
  const otherId = await createAgentApplication(identity, session);
  await postForm(identity, 'revoke', { client_id: otherId, token });
  expect(await listTools(identity, token)).toBe(200);
});

/*
 * The end of a connection that fails in between, as when the replica dies: when it is asked for again, it is completed.
 */

/** Sends a request, and ends the connection to the database on which it is about to revoke the grant. */
async function interrupt(send: () => Promise<{ status: number }>): Promise<void> {
  const client = await identity.db.connect();
  await client.query('begin');
  await client.query('select from oauth_grants order by id desc limit 1 for no key update');
  const sending = send();
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`;
  await waitFor(async () => (await identity.db.query(terminate)).rowCount === 1, {
    what: 'the revocation of the grant',
  });
  expect((await sending).status).toBeGreaterThanOrEqual(500);
  await client.query('rollback');
  client.release();
}

const findReason = async () =>
  (
    await identity.db.query<{ reason: string }>(
      `select reason from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
    )
  ).rows[0]?.reason;
const countReports = async (): Promise<number> =>
  (await identity.db.query(`select from outgoing_mails where kind = 'token_alert' and reports_theft`))
    .rowCount ?? 0;

test.each([
  ['refresh token', ({ refreshToken }: Connection) => refresh(identity, clientId, refreshToken)],
  [
    'authorization code',
    ({ authorization, code }: Connection) => exchangeCode(identity, authorization, code),
  ],
])(
  'OAUTH-14 the %s of a connection that is used again ends the connection and is mailed, although the first attempt failed',
  async (what, useAgain) => {
    const connection = await connect();
    await supersede(identity, clientId, connection.refreshToken);
    const before = await countReports();
    await interrupt(() => useAgain(connection));
    expect([await listTools(identity, connection.token), await countReports()]).toEqual([200, before]);
    expect((await useAgain(connection)).body.error).toBe('invalid_grant');
    expect(await listTools(identity, connection.token)).toBe(401);
    expect([await findReason(), await countReports()]).toEqual([`${what} used again`, before + 1]);
  },
);

test.each(['token', 'refreshToken'] as const)(
  'a client that revokes its %s ends the connection (RFC 7009), although the first attempt failed',
  async (kind) => {
    const connection = await connect();
    const form = { client_id: clientId, token: connection[kind] };
    const before = await countReports();
    await interrupt(() => postForm(identity, 'revoke', form));
    expect((await postForm(identity, 'revoke', form)).status).toBe(200);
    expect((await refresh(identity, clientId, connection.refreshToken)).body.error).toBe('invalid_grant');
    expect(await listTools(identity, connection.token)).toBe(401);
    // It is no theft, so nobody is mailed about one.
    expect([await findReason(), await countReports()]).toEqual(['revoked by the client', before]);
  },
);

test('a connection and all its data are deleted after the retention of the audit', async () => {
  const { token } = await connect();
  const find = 'select grant_id as id from oauth_access_tokens where id = $1';
  const { id } = (await identity.db.query(find, [decode(token).jti])).rows[0];
  // A refresh token that is issued at the end of a connection expires after it.
  await identity.db.query(
    `update oauth_artifacts set expires_at = now() + interval '10 years' where grant_id = $1`,
    [id],
  );
  const expire = async (days: number) => {
    const age = 'update oauth_grants set expires_at = now() - make_interval(days => $2) where id = $1';
    await identity.db.query(age, [id, days]);
    await identity.sweep();
    return (await identity.db.query('select from oauth_grants where id = $1', [id])).rowCount;
  };
  expect([await expire(729), await expire(731)]).toEqual([1, 0]);
  for (const table of ['oauth_artifacts', 'oauth_access_tokens'])
    expect((await identity.db.query(`select from ${table} where grant_id = $1`, [id])).rowCount).toBe(0);
});

test('the list of many connections counts no more than it says, and its cursor leads past what is counted', async () => {
  const { session: admin, orgId } = await identity.createOrganisation('many@example.com');
  const insert = `
    insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at)
      select ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, org_id, id, $1, 'mcp', '{}', now(),
        now() + interval '1 day' from users, generate_series(1, 10010) n where org_id = $2`;
  await identity.db.query(insert, [clientId, orgId]);
  const read = async (query: string) =>
    (await identity.call('GET', `/api/v1/connected-apps/admin?${query}`, { token: admin })).body;
  const last = await read('limit=100&page=100');
  expect(last.pagination).toMatchObject({ total: 10_000, totalPages: 100 });
  expect(last.data).toHaveLength(100);
  const beyond = await read(`limit=100&cursor=${last.nextCursor}`);
  expect([beyond.data.length, beyond.nextCursor]).toEqual([10, null]);
});
