import { waitFor } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication } from './applications.js';
import { startWithApplication } from './connected-application.js';
import { postForm, refresh } from './flow.js';

const running = await startWithApplication();
const { identity, session, clientId, connect } = running;
afterAll(() => running.close());

const decode = createDecoder();

test('owners and administrators see connected apps and end them at once', async () => {
  const { answer } = await connect();
  await identity.db.query('update oauth_grants set last_address = null');
  await refresh(identity, clientId, answer.body.refresh_token as string);
  const own = await identity.call('GET', '/api/v1/connected-apps', { token: session });
  const [app] = own.body.data;
  expect(app).toMatchObject({
    client: { id: clientId, kind: 'application', name: 'Desk agent', host: null },
    scopes: ['user:read', 'crawl:read'],
    lastAddress: '127.0.0.1',
  });
  const all = await identity.call('GET', '/api/v1/connected-apps/admin', { token: session });
  expect(all.body.data[0]).toMatchObject({ id: app.id, owner: { email: 'admin@example.com' } });
  const member = await identity.createMember(session);
  expect(
    (await identity.call('DELETE', `/api/v1/connected-apps/${app.id}`, { token: member.session })).status,
  ).toBe(404);
  const other = await identity.createOrganisation('elsewhere@example.com');
  expect(
    (await identity.call('DELETE', `/api/v1/connected-apps/admin/${app.id}`, { token: other.session }))
      .status,
  ).toBe(404);
  expect((await identity.call('DELETE', `/api/v1/connected-apps/${app.id}`, { token: session })).status).toBe(
    200,
  );
  expect((await createCaller(identity, answer.body.access_token as string).legacy('tools/list')).status).toBe(
    401,
  );
  const audit = await identity.call('GET', `/api/v1/audit?subjectId=${app.id}`, { token: session });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'connected_app.revoked',
    'connected_app.authorized',
  ]);
});

test('a tool call is attributed to the client, and is the last use of its connection', async () => {
  const { answer } = await connect();
  const token = answer.body.access_token as string;
  const { status } = await createCaller(identity, token).legacy('tools/call', {
    name: 'whoami',
    arguments: {},
  });
  expect(status).toBe(200);
  const { jti, sub } = decode(token);
  const findCalls = async () =>
    (
      await identity.db.query('select client_id, user_id, tool from tool_calls where credential_id = $1', [
        jti,
      ])
    ).rows;
  await waitFor(async () => (await findCalls()).length > 0, { what: 'the record of the call' });
  expect(await findCalls()).toEqual([{ client_id: clientId, user_id: sub, tool: 'whoami' }]);
  const isUsed = async () =>
    (await identity.call('GET', '/api/v1/connected-apps', { token: session })).body.data[0].lastUsedAt !==
    null;
  await waitFor(isUsed, { what: 'the last use of the connection' });
});

test.each(['access_token', 'refresh_token'])(
  'revoking the %s ends the connection (RFC 7009)',
  async (name) => {
    const { answer } = await connect();
    const revoked = await postForm(identity, 'revoke', {
      client_id: clientId,
      token: answer.body[name] as string,
    });
    expect(revoked.status).toBe(200);
    const list = await createCaller(identity, answer.body.access_token as string).legacy('tools/list');
    expect(list.status).toBe(401);
    expect((await refresh(identity, clientId, answer.body.refresh_token as string)).status).toBe(400);
    const { body } = await identity.call('GET', '/api/v1/audit?action=connected_app.revoked&limit=1', {
      token: session,
    });
    expect(body.data).toEqual([expect.objectContaining({ reason: 'revoked by the client' })]);
  },
);

test("OAUTH-4: a connection loses a scope that the organisation's policy denies at once, and keeps its others", async () => {
  const { answer } = await connect();
  const caller = createCaller(identity, answer.body.access_token as string);
  const getScopes = async () => {
    const { body } = await caller.legacy('tools/call', { name: 'whoami', arguments: {} });
    return body.result.structuredContent.credential.scopes as string[];
  };
  const policy = {
    allowList: [],
    maxLifetimeDays: null,
    allowsNever: true,
    revokeFamilyOnReuse: false,
    revokeUnusedDays: null,
  };
  const deny = (deniedScopes: string[]) =>
    identity.call('PUT', '/api/v1/organisation/token-policy', {
      token: session,
      body: { ...policy, deniedScopes },
    });
  expect(await getScopes()).toEqual(['user:read', 'crawl:read']);
  await deny(['crawl:read', 'kb:read']);
  expect(await getScopes()).toEqual(['user:read']);
  await deny([]);
  expect(await getScopes()).toEqual(['user:read', 'crawl:read']);
});

test('another client cannot revoke a token', async () => {
  const { answer } = await connect();
  const other = await createApplication(identity, session, {
    grantTypes: ['authorization_code'],
    redirectUris: ['https://other.example/cb'],
    authMethod: 'none',
  });
  const token = answer.body.access_token as string;
  await postForm(identity, 'revoke', { client_id: other.application.clientId, token });
  expect((await createCaller(identity, token).legacy('tools/list')).status).toBe(200);
});

test('a connection and all its data are deleted after the retention of the audit', async () => {
  const { answer } = await connect();
  const { grant_id: id } = (
    await identity.db.query('select grant_id from oauth_access_tokens where id = $1', [
      decode(answer.body.access_token as string).jti,
    ])
  ).rows[0];
  // A refresh token that is issued at the end of a connection expires after it.
  await identity.db.query(
    `update oauth_artifacts set expires_at = now() + interval '10 years' where grant_id = $1`,
    [id],
  );
  const expire = async (days: number) => {
    await identity.db.query(
      `update oauth_grants set expires_at = now() - make_interval(days => $2) where id = $1`,
      [id, days],
    );
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
  expect(beyond.data).toHaveLength(10);
  expect(beyond.nextCursor).toBeNull();
});
