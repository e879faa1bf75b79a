import { waitFor } from '@platform/testing';
import { findLiveCredentials } from '../../src/credentials/liveness/liveness.sql.js';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication } from '../oauth/applications.js';
import { noPolicy, policyPath } from '../token-policy.js';
import { createTokens, toOutcome, TOKENS, UNKNOWN_ID } from './tokens.js';

const ACCOUNTS = '/api/v1/service-accounts';

const identity = await startIdentity({
  // Nothing answers there: mails stay in the outbox, where the tests read them.
  environment: { MAIL_URL: 'http://127.0.0.1:9', TRUST_PROXY: '127.0.0.1' },
});
const session = await identity.login();
const { call, get, rotate, rotated, revoke, findEntries } = createTokens(identity, session);
afterAll(() => identity.close());

const manage = (method: string, path: string, body?: object) =>
  identity.call(method, ACCOUNTS + path, { token: session, ...(body && { body }) });

async function createAccount(role = 'admin'): Promise<string> {
  const answer = await manage('POST', '', { name: 'Nightly backup', role });
  expect(answer.status).toBe(201);
  return answer.body.serviceAccount.id as string;
}
const requestToken = (accountId: string, fields: object = {}) =>
  manage('POST', `/${accountId}/tokens`, {
    name: 'backup',
    scopes: ['user:read', 'crawl:read'],
    ...fields,
  });
async function createToken(accountId: string, fields?: object): Promise<CreatedToken> {
  const { status, text, body } = await requestToken(accountId, fields);
  if (status !== 201) throw new Error(`create token answered ${status}: ${text}`);
  return body.token as CreatedToken;
}
/** Returns the status of a request that needs `user:read`. */
const listUsers = async ({ accessToken: token }: CreatedToken, headers: Record<string, string> = {}) =>
  (await identity.call('GET', '/api/v1/users', { token, headers })).status;
const listTokens = async (owner: string, query = '') =>
  (await call('GET', `/admin?owner=${owner}${query}`)).body.data as { id: string }[];

test('OAUTH-10: an account is created, listed, renamed and removed, as the audit records', async () => {
  const id = await createAccount('member');
  const renamed = await manage('PATCH', `/${id}`, { name: 'Mirror' });
  expect([renamed.status, renamed.body.serviceAccount]).toEqual([
    200,
    expect.objectContaining({ id, name: 'Mirror', role: 'member', clientId: null, lastUsedAt: null }),
  ]);
  expect((await manage('GET', '')).body.data[0]).toEqual(renamed.body.serviceAccount);
  expect((await manage('DELETE', `/${id}`)).status).toBe(200);
  for (const method of ['GET', 'DELETE']) expect((await manage(method, `/${id}`)).status).toBe(404);
  for (const action of ['created', 'changed', 'removed'])
    expect(await findEntries(`service_account.${action}`, { id })).toHaveLength(1);
});

test('OAUTH-10: the scopes that a token of an account can have are those with which it is created', async () => {
  const all = [
    'kb:read',
    'semantic:write',
    'crawl:read',
    'crawl:write',
    'user:read',
    'user:write',
    'pat:read',
    'pat:write',
    'config:write',
    'SEND_MAIL',
    'no:such',
  ];
  for (const [role, offered] of [
    ['admin', ['kb:read', 'crawl:read', 'crawl:write', 'user:read', 'SEND_MAIL']],
    ['member', ['kb:read', 'crawl:read', 'crawl:write', 'user:read']],
  ] as const) {
    const id = await createAccount(role);
    const { body } = await manage('GET', `/${id}/tokens/scopes`);
    const listed = (body.scopes as { scopes: { name: string }[] }[])
      .flatMap(({ scopes }) => scopes.map(({ name }) => name))
      .filter((name) => all.includes(name));
    expect(new Set(listed)).toEqual(new Set(offered));
    for (const scope of all) {
      const { status } = await requestToken(id, { scopes: [scope] });
      expect([scope, status]).toEqual([scope, listed.includes(scope) ? 201 : 400]);
    }
  }
  expect((await manage('GET', `/${UNKNOWN_ID}/tokens/scopes`)).status).toBe(404);
});

test('OAUTH-10: a token of an account acts as the account, and not as a person', async () => {
  const id = await createAccount();
  const token = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  const answer = await createCaller(identity, token.accessToken).legacy('tools/call', {
    name: 'whoami',
    arguments: {},
  });
  expect(answer.body.result.structuredContent).toMatchObject({
    user: null,
    serviceAccount: { id, name: 'Nightly backup', role: 'admin' },
    credential: { kind: 'pat', scopes: ['user:read', 'crawl:read'] },
  });
  await waitFor(async () => (await findEntries('token.first_used', token)).length > 0, {
    what: 'the first use',
  });
  expect(await findEntries('token.created', token)).toMatchObject([{ credential_kind: 'session' }]);
  expect(await findEntries('token.first_used', token)).toMatchObject([
    { actor_id: id, credential_kind: 'pat' },
  ]);
});

test('PAT-10 administrators find the tokens of an account by its id, in each state', async () => {
  const id = await createAccount();
  const [kept, revoked] = [await createToken(id, { name: 'kept' }), await createToken(id)];
  await revoke(`admin/${revoked.id}`);
  expect(await listTokens(id)).toMatchObject([
    {
      id: kept.id,
      userId: id,
      ownerEmail: '',
      ownerFullName: 'Nightly backup',
      ownerDeleted: false,
      isServiceAccount: true,
    },
  ]);
  expect(await listTokens(id, '&q=kept')).toMatchObject([{ id: kept.id }]);
  expect(await listTokens(id, '&state=revoked')).toMatchObject([{ id: revoked.id }]);
});

test('PAT-25 a token of an account asks about itself, and revokes itself', async () => {
  const id = await createAccount();
  const token = await createToken(id);
  const me = await identity.call('GET', '/api/v1/users/me', { token: token.accessToken });
  const serviceAccount = { id, orgId: identity.orgId, name: 'Nightly backup', role: 'admin' };
  expect([me.status, me.body]).toEqual([200, { user: null, serviceAccount, groups: [] }]);
  const self = await call('GET', '/self', undefined, token.accessToken);
  expect(self.body.token).toMatchObject({ id: token.id, name: 'backup', state: 'active' });
  const revoked = await revoke('self', {}, token.accessToken);
  expect([revoked.status, revoked.body.revokedCount]).toEqual([200, 1]);
  expect(await listUsers(token)).toBe(401);
  expect(await findEntries('token.revoked', token)).toMatchObject([{ actor_id: id, credential_kind: 'pat' }]);
  const unscoped = await createToken(id, { scopes: ['crawl:read'] });
  expect((await call('GET', '/self', undefined, unscoped.accessToken)).status).toBe(200);
});

test("an account without the administrator's role holds no administrators' scopes, also after a demotion", async () => {
  const id = await createAccount('admin');
  const { accessToken: token } = await createToken(id, { scopes: ['config:read'] });
  const read = async () =>
    (await identity.call('GET', '/api/v1/configurationManager/smtpConfig', { token })).status;
  expect(await read()).not.toBe(403);
  expect((await manage('PATCH', `/${id}`, { role: 'member' })).status).toBe(200);
  expect(await read()).toBe(403);
  expect((await requestToken(id, { scopes: ['config:read'] })).status).toBe(400);
});

test('removing an account ends its tokens at once, and they stay listed', async () => {
  const id = await createAccount();
  const token = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  await manage('DELETE', `/${id}`);
  expect(await listUsers(token)).toBe(401);
  expect((await requestToken(id)).status).toBe(404);
  expect(await listTokens(id)).toMatchObject([{ id: token.id, ownerDeleted: true }]);
});

test('a token that is created while its account is removed never works afterwards', async () => {
  const id = await createAccount();
  const [, made] = await Promise.all([manage('DELETE', `/${id}`), requestToken(id)]);
  const token = made.body.token as CreatedToken | undefined;
  expect([401, 404]).toContain(token === undefined ? made.status : await listUsers(token));
});

test('the account of an application is managed with the application, and can own tokens', async () => {
  const { application } = await createApplication(identity, session);
  const id = application.serviceAccount?.id ?? '';
  const token = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  const shown = await manage('GET', `/${id}`);
  expect(shown.body.serviceAccount.clientId).toBe(application.clientId);
  for (const answer of [await manage('PATCH', `/${id}`, { name: 'x' }), await manage('DELETE', `/${id}`)])
    expect(toOutcome(answer)).toEqual([409, 'APPLICATION_ACCOUNT']);
  await identity.call('DELETE', `/api/v1/oauth-applications/${application.clientId}`, { token: session });
  expect(await listUsers(token)).toBe(401);
});

test('PAT-24 an administrator renames and mutes a token of an account, as the audit records', async () => {
  const { id } = await createToken(await createAccount());
  const change = { name: 'weekly backup', noticesMuted: true };
  const edited = await call('PATCH', `/${id}`, change);
  expect([edited.status, edited.body.token]).toMatchObject([200, { id, ...change, state: 'active' }]);
  expect(await get(id)).toEqual(edited.body.token);
  expect(await findEntries('token.changed', { id })).toMatchObject([{ credential_kind: 'session' }]);
});

test('PAT-24 only administrators of the organisation with a session see, change, rotate and revoke a token of an account', async () => {
  const { id } = await createToken(await createAccount());
  const member = await identity.createMember(session);
  const scopes = ['pat:read', 'pat:write', 'user:write'];
  const administrator = await identity.createToken(session, { scopes });
  const stranger = await identity.createOrganisation('admin@edits.example');
  for (const by of [member.session, administrator.accessToken, stranger.session]) {
    const answers = [
      await call('GET', `/${id}`, undefined, by),
      await call('PATCH', `/${id}`, { noticesMuted: true }, by),
      await rotate(id, {}, by),
      await revoke(id, {}, by),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  }
  expect(await get(id)).toMatchObject({ noticesMuted: false, state: 'active' });
});

test('PAT-24 an administrator rotates a token of an account with a grace, or to less, and revokes both with the new one', async () => {
  const old = await createToken(await createAccount());
  const token = await rotated(old.id, { graceSeconds: 600 });
  expect([await listUsers(old), await listUsers(token)]).toEqual([200, 200]);
  expect((await rotate(old.id)).status).toBe(409);
  expect(await findEntries('token.rotated', old)).toHaveLength(1);
  const narrowed = await rotated(token.id, { scopes: ['crawl:read'], allowList: ['203.0.113.0/24'] });
  const inside = { 'x-forwarded-for': '203.0.113.7' };
  expect([await listUsers(token), await listUsers(narrowed), await listUsers(narrowed, inside)]).toEqual([
    401, 401, 403,
  ]);
  expect((await revoke(`admin/${narrowed.id}`)).body.revokedCount).toBe(2);
  expect(await listUsers(old)).toBe(401);
});

test('the reuse of a rotated token, and a leak, are mailed to the administrators', async () => {
  const old = await createToken(await createAccount(), { name: 'rotated robot' });
  const current = await rotated(old.id);
  expect(await listUsers(old)).toBe(401);
  const findMails = async (notice: string) =>
    (
      await identity.db.query(
        `select users.email, detail->>'owner' as owner
         from outgoing_mails join users on users.id = user_id
         where detail->>'notice' = $1 and detail->>'name' = 'rotated robot'`,
        [notice],
      )
    ).rows;
  const mail = { email: 'admin@example.com' };
  const waitForMail = (notice: string) =>
    waitFor(async () => (await findMails(notice)).length > 0, { what: notice });
  await waitForMail('tokenReused');
  expect(await findMails('tokenReused')).toEqual([{ ...mail, owner: null }]);
  const body = { tokens: [{ token: current.accessToken }] };
  expect((await identity.call('POST', `${TOKENS}/leaked`, { body })).status).toBe(202);
  await waitForMail('tokenLeaked');
  expect(await findMails('tokenLeaked')).toEqual([{ ...mail, owner: 'Nightly backup' }]);
  expect(await listUsers(current)).toBe(401);
});

test('OAUTH-10: allow list and policy apply to tokens of accounts', async () => {
  const id = await createAccount();
  const listed = await createToken(id, { allowList: ['203.0.113.0/24'] });
  expect(await listUsers(listed, { 'x-forwarded-for': '203.0.113.7' })).toBe(200);
  expect(await listUsers(listed, { 'x-forwarded-for': '198.51.100.7' })).toBe(401);
  const forever = await createToken(id, { expiryDays: 'never' });
  const put = (policy: object) =>
    identity.call('PUT', policyPath, { token: session, body: { ...noPolicy, ...policy } });
  expect((await put({ allowsNever: false, deniedScopes: ['crawl:read'] })).status).toBe(200);
  try {
    expect(await listUsers(forever)).toBe(401);
    for (const fields of [{ expiryDays: 'never', scopes: ['user:read'] }, { scopes: ['crawl:read'] }])
      expect((await requestToken(id, fields)).status).toBe(400);
  } finally {
    await put({});
  }
});

test('liveness finds the account by its key, without scanning a table', async () => {
  const { id } = await createToken(await createAccount());
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into service_accounts (id, org_id, name, role, created_at)
       select gen_random_uuid(), $1, 'filler', 'member', now() from generate_series(1, 5000)`,
      [identity.orgId],
    );
    await client.query(
      `insert into users (id, org_id, email, full_name, role, created_at)
       select gen_random_uuid(), $1, 'filler-' || n || '@example.com', 'Filler', 'member', now() from generate_series(1, 5000) n`,
      [identity.orgId],
    );
    await client.query(
      `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
       select gen_random_uuid(), t.org_id, u.id, 'filler', t.scopes, 'x', t.signing_key_id, now()
       from personal_access_tokens t, (select id from users where full_name = 'Filler') u where t.id = $1`,
      [id],
    );
    await client.query(
      `insert into oauth_clients (id, kind, org_id, name, redirect_uris, grant_types, scopes, auth_method, service_account_id, created_at)
       select id::text, 'application', org_id, name, '{}', '{}', '{}', 'none', id, now() from service_accounts where name = 'filler'`,
    );
    await client.query('analyze personal_access_tokens, users, service_accounts, oauth_clients');
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await client.query(`set local plan_cache_mode = ${mode}`);
      let plan = '';
      const explain = {
        query: async ({ text, values }: { text: string; values: string[] }) => {
          await client.query(`prepare live_${mode} (uuid[], timestamptz) as ${text}`);
          const { rows } = await client.query<Record<string, string>>(
            `explain execute live_${mode}('${values[0]}', now())`,
          );
          plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          return { rows: [] };
        },
      };
      await findLiveCredentials(explain as never, { pat: [id] }, new Date());
      expect(plan).not.toMatch(/Seq Scan on (personal_access_tokens|users|service_accounts|oauth_clients) /);
    }
  } finally {
    await client.query('rollback');
    client.release();
  }
});
