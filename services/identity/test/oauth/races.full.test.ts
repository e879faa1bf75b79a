import { callUrl } from '@platform/testing';
import { encryptionKeys, type IdentityUnderTest, serviceClient, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { run, startServer } from '../process/process.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';
import {
  type Authorization,
  type Browser,
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  refresh,
} from './flow.js';

/*
 * Two replicas over one database: what happens at the same moment in both has one outcome.
 */

let identity: IdentityUnderTest;
let session: string;
let clientId: string;
let browser: Browser;
let replica: Awaited<ReturnType<typeof startServer>>;
/** The same identity, reached through the other replica. */
let other: IdentityUnderTest;

const environment = () => ({
  DATABASE_URL: identity.databaseUrl,
  ENCRYPTION_KEYS: encryptionKeys,
  HOST: '127.0.0.1',
  PORT: '0',
  SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret}`,
});

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
  const { application } = await createApplication(identity, session, {
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
  });
  clientId = application.clientId;
  browser = createBrowser(identity);
  await browser.signIn();
  replica = await startServer(environment());
  other = { ...identity, call: (method, path, options) => callUrl(replica.url + path, method, options) };
});
afterAll(async () => {
  replica.child.kill('SIGTERM');
  await replica.exit;
  await identity.close();
});

async function authorize(): Promise<{ authorization: Authorization; code: string }> {
  const authorization = createAuthorization(clientId);
  const target = await consent(browser, authorization);
  return { authorization, code: target.searchParams.get('code') ?? '' };
}

async function connect() {
  const { authorization, code } = await authorize();
  const { body } = await exchangeCode(identity, authorization, code);
  return { token: body.access_token as string, refreshToken: body.refresh_token as string };
}

const listStatus = async (token: string): Promise<number> =>
  (await createCaller(identity, token).legacy('tools/list')).status;

test('a code that is used three times concurrently is exchanged at most once, and the connection ends', async () => {
  const { authorization, code } = await authorize();
  const answers = await Promise.all(
    [identity, other, identity].map((one) => exchangeCode(one, authorization, code)),
  );
  const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.access_token as string] : []));
  expect(tokens.length).toBeLessThanOrEqual(1);
  for (const token of tokens) expect(await listStatus(token)).toBe(401);
});

const refreshAt = async (one: IdentityUnderTest, token: string) => {
  const { status, body } = await refresh(one, clientId, token);
  return {
    status,
    error: body.error as string | undefined,
    token: body.access_token as string,
    refreshToken: body.refresh_token as string,
  };
};

test('two replicas that get one refresh token concurrently issue one successor, for as long as they refresh together', async () => {
  let { refreshToken } = await connect();
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([identity, other, other].map((one) => refreshAt(one, refreshToken)));
    for (const { token } of answers) expect(await listStatus(token)).toBe(200);
    const [successor, ...others] = new Set(answers.map((answer) => answer.refreshToken));
    expect(others).toEqual([]);
    refreshToken = successor ?? '';
  }
});

test('OAUTH-6: a stolen refresh token ends the connection when the client or the thief is one step behind', async () => {
  const { refreshToken } = await connect();
  const [client, thief] = await Promise.all([
    refreshAt(identity, refreshToken),
    refreshAt(other, refreshToken),
  ]);
  const second = await refreshAt(other, thief.refreshToken);
  const third = await refreshAt(other, second.refreshToken);
  expect([client.status, thief.status, third.status]).toEqual([200, 200, 200]);
  expect((await refreshAt(identity, client.refreshToken)).error).toBe('invalid_grant');
  expect((await refreshAt(other, third.refreshToken)).error).toBe('invalid_grant');
  for (const { token } of [client, thief, third]) expect(await listStatus(token)).toBe(401);
});

test('no token outlives a revocation during concurrent refreshes', async () => {
  const { refreshToken } = await connect();
  const { body: apps } = await identity.call('GET', '/api/v1/connected-apps', { token: session });
  const { id } = apps.data[0] as { id: string };
  const [revoked, ...answers] = await Promise.all([
    identity.call('DELETE', `/api/v1/connected-apps/${id}`, { token: session }),
    ...Array.from({ length: 6 }, (_value, index) =>
      refresh(index % 2 === 0 ? other : identity, clientId, refreshToken),
    ),
  ]);
  expect(revoked.status).toBe(200);
  const tokens = answers
    .filter(({ status }) => status === 200)
    .map(({ body }) => body.access_token as string);
  for (const token of tokens) expect(await listStatus(token)).toBe(401);
});

test('no token of an application outlives its disabling during concurrent requests', async () => {
  const created = await createApplication(identity, session);
  const credentials = { clientId: created.application.clientId, clientSecret: created.clientSecret };
  const path = `/api/v1/oauth-applications/${credentials.clientId}`;
  const request = (index: number) => requestToken(index % 2 === 0 ? other : identity, credentials);
  const [disabled, ...answers] = await Promise.all([
    identity.call('PATCH', path, { token: session, body: { isDisabled: true } }),
    ...Array.from({ length: 12 }, (_value, index) => request(index)),
  ]);
  expect(disabled.status).toBe(200);
  const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.access_token as string] : []));
  for (const token of tokens) expect((await other.call('GET', '/api/v1/users', { token })).status).toBe(401);
  expect((await request(0)).status).toBe(401);
});

test('a member who is removed while the consent page is open cannot connect an application', async () => {
  const member = await identity.createMember(session);
  const own = createBrowser(identity);
  await own.signIn(member);
  const started = await own.get(createAuthorization(clientId, { scope: 'user:read' }).url);
  const page = own.getLocation(started);
  const shown = await own.get(page);
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  const answered = await own.post(page, {
    csrf: own.getFormToken(shown),
    decision: 'allow',
    scope: 'user:read',
  });
  // The session has ended with the member: the page asks to sign in.
  expect([answered.status, own.getLocation(answered)]).toEqual([303, expect.stringContaining('/sign-in?')]);
  const { rowCount } = await identity.db.query('select 1 from oauth_grants where user_id = $1', [member.id]);
  expect(rowCount).toBe(0);
});

test('a member who is removed at the moment of consent has no connection that works', async () => {
  const member = await identity.createMember(session);
  const own = createBrowser(identity);
  await own.signIn(member);
  const authorization = createAuthorization(clientId, { scope: 'user:read' });
  const page = own.getLocation(await own.get(authorization.url));
  const csrf = own.getFormToken(await own.get(page));
  const [answered, removed] = await Promise.all([
    own.post(page, { csrf, decision: 'allow', scope: 'user:read' }),
    other.call('DELETE', `/api/v1/users/${member.id}`, { token: session }),
  ]);
  expect(removed.status).toBe(200);
  const target = own.getLocation(await own.get(own.getLocation(answered)));
  const code = URL.parse(target, PUBLIC_URL)?.searchParams.get('code') ?? '';
  expect((await exchangeCode(other, authorization, code)).status).toBe(400);
});

test('removing a member ends the connections of the member at once', async () => {
  const member = await identity.createMember(session);
  const own = createBrowser(identity);
  await own.signIn(member);
  const authorization = createAuthorization(clientId, { scope: 'user:read' });
  const target = await consent(own, authorization, { scope: 'user:read' });
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  expect(await listStatus(body.access_token as string)).toBe(200);
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  expect(await listStatus(body.access_token as string)).toBe(401);
  expect((await refresh(identity, clientId, body.refresh_token as string)).body.error).toBe('invalid_grant');
});

test('the signing key rotates between the authorization and the token without a refusal', async () => {
  const { authorization, code } = await authorize();
  expect((await run('cli.js', environment(), ['keys', 'rotate', '--force']).exit).code).toBe(0);
  const { status, body } = await exchangeCode(identity, authorization, code);
  expect(status).toBe(200);
  expect(await listStatus(body.access_token as string)).toBe(200);
});

test('OAUTH-11 a policy ends 10,000 connections in one request, each with its audit entry', async () => {
  const boss = await identity.createOrganisation('boss@many.example');
  const { db } = identity;
  const { application } = await createApplication(identity, boss.session, {
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
  });
  await db.query(
    `insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, 'x', '{}', now(), now() + interval '1 day'
     from users, generate_series(1, 10000) where org_id = $1`,
    [boss.orgId, application.clientId],
  );
  // As autovacuum does; without it, each batch reads all connections.
  await db.query('analyze oauth_grants');
  const policy = { clientKinds: ['document'], hosts: [], additionalHosts: [], connectableBy: 'members', maxLifetimeDays: null };
  const path = '/api/v1/organisation/connection-policy';
  const { status, body } = await identity.call('PUT', path, { token: boss.session, body: policy });
  expect([status, body.endedCount, body.ended.length]).toEqual([200, 10_000, 1_000]);
  const { rows } = await db.query(
    `select (select count(*)::int from oauth_grants where org_id = $1 and revoked_at is null) as open,
       (select count(*)::int from audit_entries where org_id = $1 and action = 'connected_app.revoked' and reason = 'policy') as audited`,
    [boss.orgId],
  );
  expect(rows).toEqual([{ open: 0, audited: 10_000 }]);
}); // prettier-ignore
