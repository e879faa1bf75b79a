import { type Member, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication } from './applications.js';
import { consent, createAuthorization, createBrowser, exchangeCode, refresh } from './flow.js';

const path = '/api/v1/organisation/connection-policy';
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
const { application } = await createApplication(identity, session, {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: ['http://127.0.0.1/callback'],
  authMethod: 'none',
});
const applicationId = application.clientId;
afterAll(() => identity.close());
afterEach(() => save({}));

test('OAUTH-11: an organisation adds hosts for its own members, beside those of the operator', async () => {
  const own = 'https://agent.own.example/client.json';
  const authorize = async () => (await createBrowser(identity).get(createAuthorization(own).url)).status;
  expect(await authorize()).toBe(400);
  expect((await save({ additionalHosts: ['agent.own.example'] })).status).toBe(200);
  expect([await openConsent(own), await openConsent(claude)]).toEqual([200, 200]);
  const token = await connect(own);
  const other = await identity.createOrganisation('admin@other.example');
  const stranger = await identity.createMember(other.session);
  expect(await openConsent(own, stranger)).toBe(403);
  const { body } = await save({}, '?dryRun=true');
  expect(body.ended.map(({ breaches }: { breaches: string[] }) => breaches)).toEqual([['host']]);
  expect(
    (await save({ hosts: ['chatgpt.com'], additionalHosts: ['agent.own.example'] })).body.endedCount,
  ).toBe(0);
  expect(await openConsent(claude)).toBe(403);
  expect(token).toBeDefined();
  await save({});
  expect(await authorize()).toBe(400);
});

const save = (policy: object, query = '') =>
  identity.call('PUT', path + query, { token: session, body: { ...open, ...policy } });

async function openConsent(clientId: string, who: Member | undefined = member): Promise<number> {
  const browser = createBrowser(identity);
  await browser.signIn(who);
  const started = await browser.get(createAuthorization(clientId).url);
  return (await browser.get(browser.getLocation(started))).status;
}

async function connect(clientId: string, who: Member | undefined = member) {
  const browser = createBrowser(identity);
  await browser.signIn(who);
  const authorization = createAuthorization(clientId);
  const target = await consent(browser, authorization);
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  return { clientId, token: body.access_token as string, refreshToken: body.refresh_token as string };
}

const listTools = async (token: string): Promise<number> =>
  (await createCaller(identity, token).legacy('tools/list')).status;

const isConnected = async ({ clientId, token, refreshToken }: Awaited<ReturnType<typeof connect>>) => [
  await listTools(token),
  (await refresh(identity, clientId, refreshToken)).status,
];

test('OAUTH-11: the policy is read and saved by administrators with a session, and audited', async () => {
  expect((await identity.call('GET', path, { token: session })).body).toEqual({ policy: open });
  const { accessToken } = await identity.createToken(session, { scopes: ['config:read', 'config:write'] });
  for (const token of [member.session, accessToken])
    for (const method of ['GET', 'PUT'])
      expect(
        (await identity.call(method, path, { token, ...(method === 'PUT' && { body: open }) })).status,
      ).toBe(403);
  const policy = { ...open, hosts: ['claude.ai'], maxLifetimeDays: 7 };
  expect((await save(policy)).body).toEqual({ policy, endedCount: 0, ended: [] });
  expect((await identity.call('GET', path, { token: session })).body).toEqual({ policy });
  const { rows } = await identity.db.query(
    `select changes from audit_entries where action = 'configuration.connection_policy_saved' order by id desc limit 1`,
  );
  expect(rows[0].changes).toEqual({
    hosts: { from: '', to: 'claude.ai' },
    maxLifetimeDays: { from: null, to: 7 },
  });
});

test.each([
  { clientKinds: ['agents'] },
  { hosts: ['https://claude.ai'] },
  { hosts: ['Claude.ai'] },
  { connectableBy: 'nobody' },
  { maxLifetimeDays: 0 },
  { maxLifetimeDays: 91 },
])('%j is refused', async (fields) => {
  expect((await save(fields)).status).toBe(400);
});

test('a forbidden host loses its connections and gets no consent page, and a dry run only lists them', async () => {
  const [kept, ended] = [await connect(claude), await connect(chatgpt)];
  const dry = await save({ hosts: ['claude.ai'] }, '?dryRun=true');
  expect(dry.body).toMatchObject({
    endedCount: 1,
    ended: [{ clientId: chatgpt, userId: member.id, ownerEmail: member.email, breaches: ['host'] }],
  });
  expect(await listTools(ended.token)).toBe(200);
  expect(await openConsent(chatgpt)).toBe(200);
  const saved = await save({ hosts: ['claude.ai'] });
  expect(saved.body).toEqual(dry.body);
  expect(await isConnected(ended)).toEqual([401, 400]);
  expect(await isConnected(kept)).toEqual([200, 200]);
  expect(await openConsent(chatgpt)).toBe(403);
  expect(await openConsent(claude)).toBe(200);
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
  );
  expect(rows[0]).toEqual({ reason: 'policy', detail: { clientId: chatgpt, userId: member.id } });
});

test('refuses a kind of client that is not allowed, also for administrators', async () => {
  await save({ clientKinds: ['application'] });
  expect(await openConsent(claude)).toBe(403);
  expect(await openConsent(applicationId)).toBe(200);
});

test('connections of members end when only administrators may connect, and at the refresh of a demoted one', async () => {
  const promoted = await identity.createMember(session, 'admin');
  const [ofMember, ofAdmin] = [await connect(applicationId), await connect(applicationId, promoted)];
  await save({ connectableBy: 'administrators' });
  expect(await isConnected(ofMember)).toEqual([401, 400]);
  expect(await openConsent(applicationId)).toBe(403);
  expect(await openConsent(applicationId, promoted)).toBe(200);
  const next = await refresh(identity, applicationId, ofAdmin.refreshToken);
  expect(next.status).toBe(200);
  await identity.call('PATCH', `/api/v1/users/${promoted.id}`, { token: session, body: { role: 'member' } });
  const refused = await refresh(identity, applicationId, next.body.refresh_token as string);
  expect([refused.status, refused.body.error, refused.body.refresh_token]).toEqual([
    400,
    'invalid_grant',
    undefined,
  ]);
});

test('a connection made while the policy is saved gets no token that it does not allow', async () => {
  const browser = createBrowser(identity);
  await browser.signIn(member);
  const authorization = createAuthorization(chatgpt);
  const target = await consent(browser, authorization);
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
  expect((await save({ maxLifetimeDays: 7 })).body).toMatchObject({
    endedCount: 1,
    ended: [{ breaches: ['lifetime'] }],
  });
  expect(await isConnected(old)).toEqual([401, 400]);
  expect(await isConnected(young)).toEqual([200, 200]);
  await connect(applicationId);
  const { rows } = await identity.db.query<{ days: number }>(
    `select round(extract(epoch from expires_at - created_at) / 86400)::int as days from oauth_grants order by id desc limit 1`,
  );
  expect(rows[0]?.days).toBe(7);
});

test('a disabled document client gets no consent page', async () => {
  await connect(claude);
  await identity.db.query('update oauth_clients set disabled_at = now() where id = $1', [claude]);
  expect(await openConsent(claude)).toBe(400);
  await identity.db.query('update oauth_clients set disabled_at = null where id = $1', [claude]);
});
