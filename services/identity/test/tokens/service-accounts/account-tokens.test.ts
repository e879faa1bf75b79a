import { waitFor } from '@platform/testing';
import { findLiveCredentials } from '../../../src/credentials/liveness/queries.js';
import { startPlatform } from '../../sign-in/account-flows/platform.js';
import type { CreatedToken } from '../../identity.js';
import { createCaller } from '../../mcp/endpoint/endpoint.js';
import { base, useAccounts } from './use-accounts.js';

const TOKENS = '/api/v1/personal-access-tokens';
const accounts = useAccounts(startPlatform);

test('a token of an account acts as the account, and not as a person', async () => {
  const id = await accounts.createAccount();
  const { accessToken: token, ...created } = await accounts.createToken(id);
  expect(await accounts.listUsers(token)).toBe(200);
  for (const [method, path] of [
    ['GET', '/api/v1/personal-access-tokens'],
    ['POST', '/api/v1/personal-access-tokens/self/rotate'],
    ['GET', '/api/v1/personal-access-tokens/admin'],
    ['POST', '/api/v1/personal-access-tokens'],
    ['GET', '/api/v1/sessions'],
    ['POST', '/api/v1/auth/logout'],
    ['GET', '/api/v1/audit'],
  ] as const)
    expect([
      path,
      (await accounts.identity.call(method, path, { token, ...(method === 'POST' && { body: {} }) })).status,
    ]).toEqual([path, 403]);
  const answer = await createCaller(accounts.identity, token).legacy('tools/call', {
    name: 'whoami',
    arguments: {},
  });
  expect(answer.body.result.structuredContent).toMatchObject({
    user: null,
    serviceAccount: { id, name: 'Nightly backup', role: 'admin' },
    credential: { kind: 'pat', scopes: ['user:read', 'crawl:read'] },
  });
  const listed = await accounts.listTokensOfOrganisation();
  expect(listed.find((item) => item.id === created.id)).toMatchObject({
    userId: id,
    ownerEmail: '',
    ownerFullName: 'Nightly backup',
    ownerDeleted: false,
    isServiceAccount: true,
  });
  const own = await accounts.identity.call('GET', `${TOKENS}/admin?owner=${id}`, { token: accounts.session });
  expect(own.body.data).toMatchObject([{ id: created.id, name: 'backup' }]);
  await waitFor(
    async () => (await accounts.findEntries(created.id)).some(({ action }) => action === 'token.first_used'),
    { what: 'the first use' },
  );
  const [made, used] = await accounts.findEntries(created.id);
  expect(made).toMatchObject({ action: 'token.created', credential_kind: 'session' });
  expect(used).toEqual({ action: 'token.first_used', actor_id: id, credential_kind: 'pat' });
});

test('PAT-25 a token of an account asks about itself, and revokes itself', async () => {
  const id = await accounts.createAccount();
  const { accessToken: token, ...created } = await accounts.createToken(id);
  const call = (method: string, path: string) => accounts.identity.call(method, path, { token });
  const me = await call('GET', '/api/v1/users/me');
  const serviceAccount = {
    id,
    orgId: accounts.identity.orgId,
    name: 'Nightly backup',
    role: 'admin',
  };
  expect([me.status, me.body]).toEqual([200, { user: null, serviceAccount }]);
  const self = await call('GET', `${TOKENS}/self`);
  expect([self.status, self.body.token]).toMatchObject([
    200,
    {
      id: created.id,
      name: 'backup',
      scopes: ['user:read', 'crawl:read'],
      state: 'active',
    },
  ]);
  const revoked = await call('DELETE', `${TOKENS}/self`);
  expect([revoked.status, revoked.body.revokedCount]).toEqual([200, 1]);
  expect(await accounts.listUsers(token)).toBe(401);
  expect(await accounts.findEntries(created.id)).toContainEqual({
    action: 'token.revoked',
    actor_id: id,
    credential_kind: 'pat',
  });
  const unscoped = await accounts.createToken(id, { scopes: ['crawl:read'] });
  const withoutScope = { token: unscoped.accessToken };
  expect((await accounts.identity.call('GET', '/api/v1/users/me', withoutScope)).status).toBe(403);
  expect((await accounts.identity.call('GET', `${TOKENS}/self`, withoutScope)).status).toBe(200);
});

test.each(['kb:read', 'semantic:write', 'pat:read', 'pat:write', 'user:write', 'config:write', 'no:such'])(
  'a token of an account cannot hold %s',
  async (scope) => {
    const answer = await accounts.requestToken(await accounts.createAccount(), {
      scopes: ['user:read', scope],
    });
    expect([answer.status, answer.body.error.details]).toEqual([
      400,
      [expect.objectContaining({ field: 'scopes.1' })],
    ]);
  },
);

test("an account without the administrator's role holds no administrators' scopes, also after a demotion", async () => {
  const id = await accounts.createAccount('admin');
  const { accessToken: token } = await accounts.createToken(id, { scopes: ['user:read', 'config:read'] });
  const path = '/api/v1/configurationManager/smtpConfig';
  const before = await accounts.identity.call('GET', path, { token });
  const body = { role: 'member' };
  expect(
    (await accounts.identity.call('PATCH', `${base}/${id}`, { token: accounts.session, body })).status,
  ).toBe(200);
  expect((await accounts.identity.call('GET', path, { token })).status).toBe(403);
  expect(before.status).not.toBe(403);
  expect((await accounts.requestToken(id, { scopes: ['config:read'] })).status).toBe(400);
});

test('a token that is created while its account is removed never works afterwards', async () => {
  const id = await accounts.createAccount();
  const [, made] = await Promise.all([
    accounts.identity.call('DELETE', `${base}/${id}`, { token: accounts.session }),
    accounts.requestToken(id),
  ]);
  const token = made.body.token?.accessToken as string | undefined;
  expect([401, 404]).toContain(token === undefined ? made.status : await accounts.listUsers(token));
});

test('a token is rotated with a grace, and revoking the new one revokes the old one', async () => {
  const id = await accounts.createAccount();
  const old = await accounts.createToken(id);
  const rotated = await accounts.identity.call('POST', `${TOKENS}/${old.id}/rotate`, {
    token: accounts.session,
    body: { graceSeconds: 600 },
  });
  expect(rotated.status).toBe(201);
  const token = rotated.body.token as CreatedToken;
  for (const { accessToken } of [old, token]) expect(await accounts.listUsers(accessToken)).toBe(200);
  const again = await accounts.identity.call('POST', `${TOKENS}/${old.id}/rotate`, {
    token: accounts.session,
  });
  expect(again.status).toBe(409);
  const revoked = await accounts.identity.call('DELETE', `${TOKENS}/admin/${token.id}`, {
    token: accounts.session,
  });
  expect(revoked.body.revokedCount).toBe(2);
  for (const { accessToken } of [old, token]) expect(await accounts.listUsers(accessToken)).toBe(401);
  const actions = async (tokenId: string) =>
    (await accounts.findEntries(tokenId)).map(({ action }) => action);
  // The uses of a token are recorded later, the first one and those after its end.
  expect((await actions(old.id)).filter((action) => !action.endsWith('used'))).toEqual([
    'token.created',
    'token.rotated',
    'token.revoked',
  ]);
});

test('the reuse of a rotated token, and a leak, are mailed to the administrators', async () => {
  const id = await accounts.createAccount();
  const old = await accounts.createToken(id, { name: 'rotated robot' });
  const rotated = await accounts.identity.call('POST', `${TOKENS}/${old.id}/rotate`, {
    token: accounts.session,
    body: { graceSeconds: 0 },
  });
  expect(await accounts.listUsers(old.accessToken)).toBe(401);
  const hasMail = (text: string) => () =>
    accounts.site.mailsTo('admin@example.com').some((mail) => mail.text?.includes(text));
  await waitFor(hasMail('“rotated robot”'), { what: 'the mail about the reuse' });
  const { accessToken } = rotated.body.token as CreatedToken;
  const body = { tokens: [{ token: accessToken }] };
  expect(
    (await accounts.identity.call('POST', '/api/v1/personal-access-tokens/leaked', { body })).status,
  ).toBe(202);
  await waitFor(async () => (await accounts.listUsers(accessToken)) === 401, {
    what: 'the end',
  });
  await waitFor(hasMail('of Nightly backup was reported as leaked'), {
    what: 'the mail about the leak',
  });
});

test('allow list and policy apply to tokens of accounts', async () => {
  const id = await accounts.createAccount();
  const { accessToken } = await accounts.createToken(id, { allowList: ['203.0.113.0/24'] });
  expect(await accounts.listUsers(accessToken, { 'x-forwarded-for': '203.0.113.7' })).toBe(200);
  expect(await accounts.listUsers(accessToken, { 'x-forwarded-for': '198.51.100.7' })).toBe(401);
  const forever = await accounts.createToken(id, { expiryDays: 'never' });
  const put = (policy: object) =>
    accounts.identity.call('PUT', '/api/v1/organisation/token-policy', {
      token: accounts.session,
      body: {
        allowList: [],
        maxLifetimeDays: null,
        allowsNever: true,
        deniedScopes: [],
        revokeFamilyOnReuse: false,
        revokeUnusedDays: null,
        ...policy,
      },
    });
  const saved = await put({ allowsNever: false, deniedScopes: ['crawl:read'] });
  expect(saved.status).toBe(200);
  try {
    expect(await accounts.listUsers(forever.accessToken)).toBe(401);
    for (const fields of [{ expiryDays: 'never', scopes: ['user:read'] }, { scopes: ['crawl:read'] }])
      expect((await accounts.requestToken(id, fields)).status).toBe(400);
  } finally {
    await put({});
  }
});

test('liveness finds the account by its key, without scanning a table', async () => {
  const { accessToken: _value, ...token } = await accounts.createToken(await accounts.createAccount());
  const client = await accounts.identity.db.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into service_accounts (id, org_id, name, role, created_at)
       select gen_random_uuid(), $1, 'filler', 'member', now() from generate_series(1, 20000)`,
      [accounts.identity.orgId],
    );
    await client.query(
      `insert into users (id, org_id, email, full_name, role, created_at)
       select gen_random_uuid(), $1, 'filler-' || n || '@example.com', 'Filler', 'member', now() from generate_series(1, 20000) n`,
      [accounts.identity.orgId],
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
        query: async ({ text, values }: { text: string; values: string[] }) => {
          await client.query(`prepare live_${mode} (uuid[], timestamptz) as ${text}`);
          const { rows } = await client.query<Record<string, string>>(
            `explain execute live_${mode}('${values[0]}', now())`,
          );
          plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          return { rows: [] };
        },
      };
      await findLiveCredentials(explain as never, { pat: [token.id] }, new Date());
      expect(plan).not.toMatch(/Seq Scan on (personal_access_tokens|users|service_accounts|oauth_clients) /);
    }
  } finally {
    await client.query('rollback');
    client.release();
  }
});
