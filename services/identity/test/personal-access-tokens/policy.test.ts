import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { noPolicy, policyPath } from './no-policy.js';

const tokensPath = '/api/v1/personal-access-tokens';
let identity: IdentityUnderTest;
let session: string;

beforeEach(async () => {
  identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
  session = await identity.login();
});
afterEach(() => identity.close());

const put = (policy: object, query = '', token = session) =>
  identity.call('PUT', policyPath + query, { token, body: { ...noPolicy, ...policy } });
const create = (fields: object) =>
  identity.call('POST', tokensPath, {
    token: session,
    body: { name: 'x', scopes: ['user:read'], ...fields },
  });
const getStatus = async ({ accessToken: token }: CreatedToken) =>
  (await identity.call('GET', '/api/v1/users/me', { token })).status;
const days = (answer: { body: { token: CreatedToken } }) =>
  (Date.parse(answer.body.token.expiresAt ?? '') - Date.parse(answer.body.token.createdAt)) / 86_400_000;

test('there is no restriction at first, and a saved policy is returned and audited', async () => {
  const get = async () => (await identity.call('GET', policyPath, { token: session })).body;
  expect(await get()).toEqual({ policy: noPolicy });
  const policy = {
    allowList: ['127.0.0.0/8', '203.0.113.7'],
    maxLifetimeDays: 90,
    allowsNever: false,
    deniedScopes: ['crawl:delete'],
    revokeFamilyOnReuse: true,
    revokeUnusedDays: null,
  };
  const saved = await put(policy);
  const shown = { ...policy, allowList: ['127.0.0.0/8', '203.0.113.7/32'] };
  expect([saved.status, saved.body]).toEqual([
    200,
    { policy: shown, affected: [], affectedCount: 0, revokedCount: 0, warnedCount: 0 },
  ]);
  expect(await get()).toEqual({ policy: shown });
  const { rows } = await identity.db.query(
    `select changes from audit_entries where action = 'configuration.token_policy_saved'`,
  );
  expect(rows).toEqual([
    {
      changes: {
        allowList: { from: '', to: '127.0.0.0/8 203.0.113.7/32' },
        maxLifetimeDays: { from: null, to: 90 },
        allowsNever: { from: 'true', to: 'false' },
        deniedScopes: { from: '', to: 'crawl:delete' },
        revokeFamilyOnReuse: { from: 'false', to: 'true' },
      },
    },
  ]);
});

test('new tokens and rotations follow the policy: defaults are limited, and explicit values are rejected', async () => {
  const forever = (await create({ expiryDays: 'never', scopes: ['user:read'] })).body.token as CreatedToken;
  await put({ maxLifetimeDays: 10, deniedScopes: ['crawl:delete'], existingTokens: 'keep' });
  expect(days(await create({}))).toBeCloseTo(10, 3);
  for (const [fields, field] of [
    [{ expiryDays: 30 }, 'expiryDays'],
    [{ expiryDays: 'never' }, 'expiryDays'],
    [{ scopes: ['user:read', 'crawl:delete'] }, 'scopes.1'],
  ] as const) {
    const answer = await create(fields);
    expect([answer.status, answer.body.error.details[0].field]).toEqual([400, field]);
  }
  const defaults = await create({ scopes: undefined });
  expect(defaults.body.token.scopes).toEqual(expect.not.arrayContaining(['crawl:delete']));
  const grantable = await identity.call('GET', `${tokensPath}/scopes`, { token: session });
  expect([grantable.text.includes('"crawl:write"'), grantable.text.includes('"crawl:delete"')]).toEqual([
    true,
    false,
  ]);
  const rotated = await identity.call('POST', `${tokensPath}/${forever.id}/rotate`, { token: session });
  expect(days(rotated)).toBeCloseTo(10, 3);
  await put({ allowsNever: false });
  expect((await create({ expiryDays: 'never' })).status).toBe(400);
  expect((await create({ expiryDays: 365 })).status).toBe(201);
});

test('a token that is created while the policy is saved is revoked with the others', async () => {
  const { id } = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 'never' });
  // Another request creates a token right before the policy is stored.
  await identity.db.query(`
    create function create_token() returns trigger language plpgsql as $$ begin
      insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
        select gen_random_uuid(), org_id, owner_id, 'meanwhile', scopes, 'x', signing_key_id, now()
        from personal_access_tokens where id = '${id}';
      return new;
    end $$;
    create trigger create_token before insert on token_policies for each row execute function create_token()`);
  const saved = await put({ allowsNever: false, existingTokens: 'revoke' });
  expect(saved.body).toMatchObject({ affectedCount: 2, revokedCount: 2 });
  const { rows } = await identity.db.query<{ status: string }>('select status from personal_access_tokens');
  expect(rows.map(({ status }) => status)).toEqual(['revoked', 'revoked']);
});

test('an administrator who is demoted in the meantime cannot save a policy', async () => {
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query('select from organisations for update');
    const saving = put({ allowsNever: false });
    await waitForLockWaiters(identity.db);
    await client.query(`update users set role = 'member'`);
    await client.query('commit');
    expect((await saving).body.error.code).toBe('ADMIN_REQUIRED');
  } finally {
    client.release();
  }
});

test('unused tokens are not revoked where nobody could be warned', async () => {
  const { status, body } = await put({ revokeUnusedDays: 30 });
  expect([status, body.error.code]).toEqual([409, 'MAIL_SERVICE_REQUIRED']);
});

test('existing tokens are kept when the administrator says so', async () => {
  const forever = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 'never' });
  const saved = await put({ allowsNever: false, existingTokens: 'keep' });
  expect(saved.body).toMatchObject({ affectedCount: 1, revokedCount: 0 });
  expect(await getStatus(forever)).toBe(200);
});

test("the organisation's allow list takes effect with the response", async () => {
  const { accessToken: token } = await identity.createToken(session, { scopes: ['user:read'] });
  const from = async (address: string) =>
    (await identity.call('GET', '/api/v1/users/me', { token, headers: { 'x-forwarded-for': address } }))
      .status;
  expect((await put({ allowList: ['203.0.113.0/24'] })).status).toBe(200);
  expect([await from('203.0.113.1'), await from('198.51.100.1')]).toEqual([200, 401]);
  await put({});
  expect(await from('198.51.100.1')).toBe(200);
});

test('only an administrator with a session can read and save it, and invalid policies fail with 400', async () => {
  const member = await identity.createMember(session);
  const pat = await identity.createToken(session, { scopes: ['config:read', 'config:write'] });
  for (const method of ['GET', 'PUT']) {
    const call = (token: string) => identity.call(method, policyPath, { token, ...(method === 'PUT' && { body: noPolicy }) });
    expect([(await call(member.session)).body.error.code, (await call(pat.accessToken)).body.error.code]).toEqual([
      'ADMIN_REQUIRED',
      'SESSION_REQUIRED',
    ]);
  }
  for (const fields of [
    { maxLifetimeDays: 0 }, { maxLifetimeDays: 3_651 }, { deniedScopes: ['no:scope'] }, { allowList: ['10.0.0.1/8'] },
    { allowsNever: 'no' }, { extra: 1 }, { existingTokens: 'drop' }, { allowList: undefined },
  ])
    expect([fields, (await put(fields)).status]).toEqual([fields, 400]);
  expect((await put({}, '?dryRun=maybe')).status).toBe(400);
}); // prettier-ignore
