import { type Member, startIdentity } from '../identity.js';
import { createAgentApplication } from './applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  listTools,
  openConsent,
  refresh,
} from './flow.js';

const PATH = '/api/v1/organisation/connection-policy';
const claude = 'https://claude.ai/oauth/client.json';
const chatgpt = 'https://chatgpt.com/oauth/client.json';
const open = {
  clientKinds: ['application', 'document', 'registered'],
  hosts: [],
  additionalHosts: [],
  connectableBy: 'members',
  maxLifetimeDays: null,
};

const identity = await startIdentity({
  environment: { OAUTH_CLIENT_HOSTS: 'claude.ai,chatgpt.com' },
  fetchDocument: async (input) =>
    Response.json({
      client_id: input instanceof Request ? input.url : String(input),
      client_name: 'Agent',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }),
});
const session = await identity.login();
const member = await identity.createMember(session);
const applicationId = await createAgentApplication(identity, session);
afterAll(() => identity.close());
afterEach(() => save({}));

const save = (policy: object, query = '') =>
  identity.call('PUT', PATH + query, { token: session, body: { ...open, ...policy } });

async function signIn(who: Member) {
  const browser = createBrowser(identity);
  await browser.signIn(who);
  return browser;
}

/** Opens the consent page of a client. @returns its status. */
const seek = async (clientId: string, who = member): Promise<number> =>
  (await openConsent(await signIn(who), createAuthorization(clientId))).page.status;

async function connect(clientId: string, who = member) {
  const authorization = createAuthorization(clientId);
  const target = await consent(await signIn(who), authorization);
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  return { clientId, token: body.access_token as string, refreshToken: body.refresh_token as string };
}

/** Uses a connection. @returns the statuses of a tool list and of a refresh. */
const use = async ({ clientId, token, refreshToken }: Awaited<ReturnType<typeof connect>>) => [
  await listTools(identity, token),
  (await refresh(identity, clientId, refreshToken)).status,
];
const WORKS = [200, 200];
const HAS_ENDED = [401, 400];

test('OAUTH-11: an organisation adds hosts for its own members, beside those of the operator', async () => {
  const own = 'https://agent.own.example/client.json';
  const authorize = async () => (await createBrowser(identity).get(createAuthorization(own).url)).status;
  expect(await authorize()).toBe(400);
  expect((await save({ additionalHosts: ['agent.own.example'] })).status).toBe(200);
  expect([await seek(own), await seek(claude)]).toEqual([200, 200]);
  await connect(own);
  const other = await identity.createOrganisation('admin@other.example');
  expect(await seek(own, await identity.createMember(other.session))).toBe(403);
  const { body } = await save({}, '?dryRun=true');
  expect(body.ended.map(({ breaches }: { breaches: string[] }) => breaches)).toEqual([['host']]);
  const narrowed = await save({ hosts: ['chatgpt.com'], additionalHosts: ['agent.own.example'] });
  expect([narrowed.body.endedCount, await seek(claude)]).toEqual([0, 403]);
  await save({});
  expect(await authorize()).toBe(400);
});

test('OAUTH-11: the policy is saved as it is read, and audited', async () => {
  const policy = { ...open, hosts: ['claude.ai'], maxLifetimeDays: 7 };
  expect((await save(policy)).body).toEqual({ policy, endedCount: 0, ended: [] });
  expect((await identity.call('GET', PATH, { token: session })).body).toEqual({
    policy,
    isRegistrationOpen: expect.any(Boolean),
  });
  const { rows } = await identity.db.query(
    `select changes from audit_entries where action = 'configuration.connection_policy_saved' order by id desc limit 1`,
  );
  expect(rows[0].changes).toEqual({
    hosts: { from: '', to: 'claude.ai' },
    maxLifetimeDays: { from: null, to: 7 },
  });
  for (const invalid of [{ hosts: ['https://claude.ai'] }, { hosts: ['Claude.ai'] }])
    expect((await save(invalid)).status).toBe(400);
});

test('a forbidden host loses its connections and gets no consent page, and a dry run only lists them', async () => {
  const [kept, ended] = [await connect(claude), await connect(chatgpt)];
  const dry = await save({ hosts: ['claude.ai'] }, '?dryRun=true');
  expect(dry.body).toMatchObject({
    endedCount: 1,
    ended: [{ clientId: chatgpt, userId: member.id, ownerEmail: member.email, breaches: ['host'] }],
  });
  expect([await listTools(identity, ended.token), await seek(chatgpt)]).toEqual([200, 200]);
  const saved = await save({ hosts: ['claude.ai'] });
  expect(saved.body).toEqual(dry.body);
  expect([await use(ended), await use(kept)]).toEqual([HAS_ENDED, WORKS]);
  expect([await seek(chatgpt), await seek(claude)]).toEqual([403, 200]);
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
  );
  expect(rows[0]).toEqual({ reason: 'policy', detail: { clientId: chatgpt, userId: member.id } });
});

test('connections of members end when only administrators may connect, and at the refresh of a demoted one', async () => {
  const promoted = await identity.createMember(session, 'admin');
  const [ofMember, ofAdmin] = [await connect(applicationId), await connect(applicationId, promoted)];
  await save({ connectableBy: 'administrators' });
  expect(await use(ofMember)).toEqual(HAS_ENDED);
  expect([await seek(applicationId), await seek(applicationId, promoted)]).toEqual([403, 200]);
  const next = await refresh(identity, applicationId, ofAdmin.refreshToken);
  expect(next.status).toBe(200);
  await identity.call('PATCH', `/api/v1/users/${promoted.id}`, { token: session, body: { role: 'member' } });
  const refused = await refresh(identity, applicationId, next.body.refresh_token as string);
  expect([refused.body.error, refused.body.refresh_token]).toEqual(['invalid_grant', undefined]);
});

test('a connection made while the policy is saved gets no token that it does not allow', async () => {
  const authorization = createAuthorization(chatgpt);
  const target = await consent(await signIn(member), authorization);
  await identity.db.query(`update connection_policies set hosts = '{claude.ai}' where org_id = $1`, [
    identity.orgId,
  ]);
  const code = target.searchParams.get('code') ?? '';
  expect((await exchangeCode(identity, authorization, code)).body.error).toBe('invalid_grant');
});

test('the longest lifetime bounds new connections, and ends old ones in time', async () => {
  const old = await connect(applicationId);
  const young = await connect(applicationId);
  await identity.db.query(
    `update oauth_grants set created_at = created_at - interval '8 days'
     where id = (select id from oauth_grants where client_id = $1 and revoked_at is null order by id desc offset 1 limit 1)`,
    [applicationId],
  );
  const { body } = await save({ maxLifetimeDays: 7 });
  expect(body).toMatchObject({ endedCount: 1, ended: [{ breaches: ['lifetime'] }] });
  expect([await use(old), await use(young)]).toEqual([HAS_ENDED, WORKS]);
  await connect(applicationId);
  const { rows } = await identity.db.query<{ days: number }>(
    `select round(extract(epoch from expires_at - created_at) / 86400)::int as days from oauth_grants order by id desc limit 1`,
  );
  expect(rows[0]?.days).toBe(7);
});

test('OAUTH-21: a policy ends 1,500 connections in one request, each with its audit entry', async () => {
  const boss = await identity.createOrganisation('boss@many.example');
  await identity.db.query(
    `insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, 'x', '{}', now(), now() + interval '1 day'
     from users, generate_series(1, 1500) where org_id = $1`,
    [boss.orgId, applicationId],
  );
  const policy = { ...open, clientKinds: ['document'] };
  // It reads, ends and lists a thousand at a time.
  const { body } = await identity.call('PUT', PATH, { token: boss.session, body: policy });
  expect([body.endedCount, body.ended.length]).toEqual([1_500, 1_000]);
  const { rows } = await identity.db.query(
    `select (select count(*)::int from oauth_grants where org_id = $1 and revoked_at is null) as open,
       (select count(*)::int from audit_entries where org_id = $1 and action = 'connected_app.revoked' and reason = 'policy') as audited`,
    [boss.orgId],
  );
  expect(rows).toEqual([{ open: 0, audited: 1_500 }]);
});

test('a disabled document client gets no consent page', async () => {
  await connect(claude);
  await identity.db.query('update oauth_clients set disabled_at = now() where id = $1', [claude]);
  expect(await seek(claude)).toBe(400);
});
