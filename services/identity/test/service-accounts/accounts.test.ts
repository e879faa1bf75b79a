import { waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../account-flows/platform.js';
import type { CreatedToken, IdentityUnderTest } from '../identity.js';
import { createCaller } from '../mcp/endpoint.js';
import { createApplication } from '../oauth/applications.js';
import { findLiveCredentials } from '../../src/features/liveness/queries.js';

const base = '/api/v1/service-accounts';
let platform: Platform;
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  platform = await startPlatform();
  ({ identity, session } = platform);
});
afterAll(() => platform.close());

async function createAccount(role = 'admin', token = session): Promise<string> {
  const body = { name: 'Nightly backup', role };
  const answer = await identity.call('POST', base, { token, body });
  expect(answer.status).toBe(201);
  return answer.body.serviceAccount.id as string;
}

const requestToken = (accountId: string, fields: object = {}, token = session) =>
  identity.call('POST', `${base}/${accountId}/tokens`, {
    token,
    body: { name: 'backup', scopes: ['user:read', 'crawl:read'], ...fields },
  });

async function createToken(accountId: string, fields: object = {}): Promise<CreatedToken> {
  const { status, text, body } = await requestToken(accountId, fields);
  if (status !== 201) throw new Error(`create token answered ${status}: ${text}`);
  return body.token as CreatedToken;
}

const listUsers = async (token: string, headers: Record<string, string> = {}): Promise<number> =>
  (await identity.call('GET', '/api/v1/users', { token, headers })).status;

const listOfOrganisation = async () =>
  (await identity.call('GET', '/api/v1/personal-access-tokens/admin?limit=100', { token: session })).body
    .data as { id: string }[];

const findEntries = async (subjectId: string) =>
  (
    await identity.db.query<{ action: string }>(
      'select action, actor_id, credential_kind from audit_entries where subject_id = $1 order by id',
      [subjectId],
    )
  ).rows;

test('OAUTH-10: an account is created, listed, renamed and removed, and the audit has it', async () => {
  const id = await createAccount('member');
  const path = `${base}/${id}`;
  const renamed = await identity.call('PATCH', path, { token: session, body: { name: 'Mirror' } });
  expect([renamed.status, renamed.body.serviceAccount]).toEqual([
    200,
    expect.objectContaining({ id, name: 'Mirror', role: 'member', clientId: null, lastUsedAt: null }),
  ]);
  const list = await identity.call('GET', base, { token: session });
  expect(list.body.data[0]).toEqual(renamed.body.serviceAccount);
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  for (const method of ['GET', 'DELETE'])
    expect((await identity.call(method, path, { token: session })).status).toBe(404);
  expect((await findEntries(id)).map(({ action }) => action)).toEqual([
    'service_account.created',
    'service_account.changed',
    'service_account.removed',
  ]);
});

test('only an administrator with a session manages accounts and their tokens', async () => {
  const id = await createAccount();
  const member = await identity.createMember(session);
  const { accessToken: own } = await identity.createToken(session, {
    scopes: ['pat:write', 'pat:read', 'user:read', 'user:write'],
  });
  const { accessToken: ofAccount } = await createToken(id);
  const calls: readonly (readonly [string, string, object?])[] = [
    ['GET', base],
    ['POST', base, { name: 'x' }],
    ['PATCH', `${base}/${id}`, { name: 'x' }],
    ['DELETE', `${base}/${id}`],
    ['GET', `${base}/${id}/tokens`],
    ['POST', `${base}/${id}/tokens`, { name: 'x', scopes: ['user:read'] }],
  ];
  for (const [method, path, body] of calls)
    for (const [token, code] of [
      [member.session, 'ADMIN_REQUIRED'],
      [own, 'SESSION_REQUIRED'],
      [ofAccount, 'SESSION_REQUIRED'],
    ] as const) {
      const answer = await identity.call(method, path, { token, ...(body && { body }) });
      expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, 403, code]);
    }
});

test('an account of another organisation is not found, with its tokens', async () => {
  const other = await identity.createOrganisation('elsewhere@example.com');
  const id = await createAccount('admin', other.session);
  const made = await requestToken(id, {}, other.session);
  const path = `${base}/${id}`;
  for (const [method, suffix, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['GET', '/tokens'],
    ['POST', '/tokens', { name: 'x', scopes: ['user:read'] }],
    ['POST', `/tokens/${made.body.token.id}/rotate`],
    ['DELETE', `/tokens/${made.body.token.id}`],
  ] as const)
    expect(
      (await identity.call(method, path + suffix, { token: session, ...(body && { body }) })).status,
    ).toBe(404);
  const mine = await createAccount();
  const foreign = await identity.call('DELETE', `${base}/${mine}/tokens/${made.body.token.id}`, {
    token: session,
  });
  expect(foreign.status).toBe(404);
  expect(await listUsers(made.body.token.accessToken as string)).toBe(200);
});

test('a token of an account acts as the account, and not as a person', async () => {
  const id = await createAccount();
  const { accessToken: token, ...created } = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  for (const [method, path] of [
    ['GET', '/api/v1/users/me'],
    ['GET', '/api/v1/personal-access-tokens'],
    ['GET', '/api/v1/personal-access-tokens/self'],
    ['DELETE', '/api/v1/personal-access-tokens/self'],
    ['GET', '/api/v1/personal-access-tokens/admin'],
    ['POST', '/api/v1/personal-access-tokens'],
    ['GET', '/api/v1/sessions'],
    ['POST', '/api/v1/auth/logout'],
    ['GET', '/api/v1/audit'],
  ] as const)
    expect([
      path,
      (await identity.call(method, path, { token, ...(method === 'POST' && { body: {} }) })).status,
    ]).toEqual([path, 403]);
  const answer = await createCaller(identity, token).legacy('tools/call', { name: 'whoami', arguments: {} });
  expect(answer.body.result.structuredContent).toMatchObject({
    user: null,
    serviceAccount: { id, name: 'Nightly backup', role: 'admin' },
    credential: { kind: 'pat', scopes: ['user:read', 'crawl:read'] },
  });
  const listed = await listOfOrganisation();
  expect(listed.find((item) => item.id === created.id)).toMatchObject({
    userId: id,
    ownerEmail: '',
    ownerFullName: 'Nightly backup',
    ownerDeleted: false,
    isServiceAccount: true,
  });
  const own = await identity.call('GET', `${base}/${id}/tokens`, { token: session });
  expect(own.body.tokens).toMatchObject([{ id: created.id, name: 'backup' }]);
  await waitFor(
    async () => (await findEntries(created.id)).some(({ action }) => action === 'token.first_used'),
    { what: 'the first use', timeoutMs: 10_000 },
  );
  const [made, used] = await findEntries(created.id);
  expect(made).toMatchObject({ action: 'token.created', credential_kind: 'session' });
  expect(used).toEqual({ action: 'token.first_used', actor_id: id, credential_kind: 'pat' });
});

test.each(['kb:read', 'semantic:write', 'pat:read', 'pat:write', 'user:write', 'config:write', 'no:such'])(
  'no account holds %s',
  async (scope) => {
    const answer = await requestToken(await createAccount(), { scopes: ['user:read', scope] });
    expect([answer.status, answer.body.error.details]).toEqual([
      400,
      [expect.objectContaining({ field: 'scopes.1' })],
    ]);
  },
);

test('an account that is no administrator holds no scope of administrators, also after it was demoted', async () => {
  const id = await createAccount('admin');
  const { accessToken: token } = await createToken(id, { scopes: ['user:read', 'config:read'] });
  const path = '/api/v1/configurationManager/smtpConfig';
  const before = await identity.call('GET', path, { token });
  const body = { role: 'member' };
  expect((await identity.call('PATCH', `${base}/${id}`, { token: session, body })).status).toBe(200);
  expect((await identity.call('GET', path, { token })).status).toBe(403);
  expect(before.status).not.toBe(403);
  expect((await requestToken(id, { scopes: ['config:read'] })).status).toBe(400);
});

test('removing an account ends its tokens at once, and they stay listed', async () => {
  const id = await createAccount();
  const { accessToken: token, id: tokenId } = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  await identity.call('DELETE', `${base}/${id}`, { token: session });
  expect(await listUsers(token)).toBe(401);
  expect((await requestToken(id)).status).toBe(404);
  expect((await listOfOrganisation()).find((item) => item.id === tokenId)).toMatchObject({
    ownerDeleted: true,
  });
});

test('a token that is created while its account is removed never works afterwards', async () => {
  const id = await createAccount();
  const [, made] = await Promise.all([
    identity.call('DELETE', `${base}/${id}`, { token: session }),
    requestToken(id),
  ]);
  const token = made.body.token?.accessToken as string | undefined;
  expect([401, 404]).toContain(token === undefined ? made.status : await listUsers(token));
});

test('the account of an application is managed with the application, and can own tokens', async () => {
  const { application } = await createApplication(identity, session);
  const id = application.serviceAccount?.id ?? '';
  const { accessToken: token } = await createToken(id);
  expect(await listUsers(token)).toBe(200);
  const path = `${base}/${id}`;
  const shown = await identity.call('GET', path, { token: session });
  expect(shown.body.serviceAccount.clientId).toBe(application.clientId);
  for (const method of ['PATCH', 'DELETE'])
    expect(
      (
        await identity.call(method, path, {
          token: session,
          ...(method === 'PATCH' && { body: { name: 'x' } }),
        })
      ).body.error.code,
    ).toBe('APPLICATION_ACCOUNT');
  await identity.call('DELETE', `/api/v1/oauth-applications/${application.clientId}`, { token: session });
  expect(await listUsers(token)).toBe(401);
});

test('a token is rotated with a grace, and revoking the new one revokes the old one', async () => {
  const id = await createAccount();
  const old = await createToken(id);
  const rotated = await identity.call('POST', `${base}/${id}/tokens/${old.id}/rotate`, {
    token: session,
    body: { graceSeconds: 600 },
  });
  expect(rotated.status).toBe(201);
  const token = rotated.body.token as CreatedToken;
  for (const { accessToken } of [old, token]) expect(await listUsers(accessToken)).toBe(200);
  const again = await identity.call('POST', `${base}/${id}/tokens/${old.id}/rotate`, { token: session });
  expect(again.status).toBe(409);
  const revoked = await identity.call('DELETE', `${base}/${id}/tokens/${token.id}`, { token: session });
  expect(revoked.body.revokedCount).toBe(2);
  for (const { accessToken } of [old, token]) expect(await listUsers(accessToken)).toBe(401);
  const actions = async (tokenId: string) => (await findEntries(tokenId)).map(({ action }) => action);
  expect((await actions(old.id)).filter((action) => action !== 'token.first_used')).toEqual([
    'token.created',
    'token.rotated',
    'token.revoked',
  ]);
});

test('the reuse of a rotated token, and a leak, are mailed to the administrators', async () => {
  const id = await createAccount();
  const old = await createToken(id, { name: 'rotated robot' });
  const rotated = await identity.call('POST', `${base}/${id}/tokens/${old.id}/rotate`, { token: session });
  expect(await listUsers(old.accessToken)).toBe(401);
  const hasMail = (text: string) => () =>
    platform.mailsTo('admin@example.com').some((mail) => mail.text?.includes(text));
  await waitFor(hasMail('"rotated robot"'), { what: 'the mail about the reuse', timeoutMs: 15_000 });
  const { accessToken } = rotated.body.token as CreatedToken;
  const body = { tokens: [{ token: accessToken }] };
  expect((await identity.call('POST', '/api/v1/personal-access-tokens/leaked', { body })).status).toBe(202);
  await waitFor(async () => (await listUsers(accessToken)) === 401, { what: 'the end', timeoutMs: 15_000 });
  await waitFor(hasMail('of Nightly backup was reported as leaked'), {
    what: 'the mail about the leak',
    timeoutMs: 15_000,
  });
});

test('allow list and policy hold for tokens of accounts', async () => {
  const id = await createAccount();
  const { accessToken } = await createToken(id, { allowList: ['203.0.113.0/24'] });
  expect(await listUsers(accessToken, { 'x-forwarded-for': '203.0.113.7' })).toBe(200);
  expect(await listUsers(accessToken, { 'x-forwarded-for': '198.51.100.7' })).toBe(401);
  const forever = await createToken(id, { expiryDays: 'never' });
  const put = (policy: object) =>
    identity.call('PUT', '/api/v1/organisation/token-policy', {
      token: session,
      body: {
        allowList: [],
        maxLifetimeDays: null,
        allowsNever: true,
        deniedScopes: [],
        revokeFamilyOnReuse: false,
        ...policy,
      },
    });
  const saved = await put({ allowsNever: false, deniedScopes: ['crawl:read'], existingTokens: 'revoke' });
  expect(saved.status).toBe(200);
  try {
    expect(await listUsers(forever.accessToken)).toBe(401);
    for (const fields of [{ expiryDays: 'never', scopes: ['user:read'] }, { scopes: ['crawl:read'] }])
      expect((await requestToken(id, fields)).status).toBe(400);
  } finally {
    await put({});
  }
});

test('liveness finds the account by its key, and scans no table', async () => {
  const { accessToken: _value, ...token } = await createToken(await createAccount());
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into service_accounts (id, org_id, name, role, created_at)
       select gen_random_uuid(), $1, 'filler', 'member', now() from generate_series(1, 20000)`,
      [identity.orgId],
    );
    await client.query(
      `insert into users (id, org_id, email, full_name, role, created_at)
       select gen_random_uuid(), $1, 'filler-' || n || '@example.com', 'Filler', 'member', now() from generate_series(1, 20000) n`,
      [identity.orgId],
    );
    await client.query(
      `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
       select gen_random_uuid(), t.org_id, u.id, 'filler', t.scopes, 'x', t.signing_key_id, now()
       from personal_access_tokens t, (select id from users where full_name = 'Filler') u where t.id = $1`,
      [token.id],
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
        query: async ({ text, values }: { text: string; values: unknown[] }) => {
          await client.query(`prepare live_${mode} (uuid[], uuid[], uuid[], uuid[], timestamptz) as ${text}`);
          const lists = (values.slice(0, 4) as string[][]).map((ids) => `'{${ids.join(',')}}'`).join(', ');
          const { rows } = await client.query<Record<string, string>>(
            `explain execute live_${mode}(${lists}, now())`,
          );
          plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          return { rows: [] };
        },
      };
      await findLiveCredentials(explain as never, {
        tokenIds: [token.id],
        sessionIds: [],
        serviceCredentialIds: [],
        accessTokenIds: [],
        now: new Date(),
      });
      expect(plan).not.toMatch(/Seq Scan on (personal_access_tokens|users|service_accounts|oauth_clients) /);
    }
  } finally {
    await client.query('rollback');
    client.release();
  }
});
