import { waitFor } from '@platform/testing';
import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { noPolicy, policyPath } from '../token-policy.js';

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
  expect([saved.status, saved.body]).toEqual([200, { policy: shown, affected: [], affectedCount: 0 }]);
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
  await put({ maxLifetimeDays: 10, deniedScopes: ['crawl:delete'] });
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

test('PAT-30: a policy holds for existing tokens from the next request on, and gives back what it took', async () => {
  const make = (fields: object) => identity.createToken(session, { scopes: ['user:read'], ...fields });
  const year = await make({ expiryDays: 365 });
  const month = await make({ expiryDays: 30 });
  const never = await make({ expiryDays: 'never' });
  const tokens = [year, month, never];
  const statuses = () => Promise.all(tokens.map(getStatus));
  await put({ allowsNever: false });
  expect(await statuses()).toEqual([200, 200, 401]);
  await put({ deniedScopes: ['user:read'] });
  expect(await statuses()).toEqual([403, 403, 403]);
  await put({ maxLifetimeDays: 20, allowsNever: false });
  expect(await statuses()).toEqual([200, 200, 200]);
  // Of a token that is older than the longest lifetime, the policy decides, not its own expiry.
  identity.advance(21 * 86_400_000);
  session = await identity.login();
  expect(await statuses()).toEqual([401, 401, 401]);
  await put({ maxLifetimeDays: 22 });
  expect(await statuses()).toEqual([200, 200, 200]);
  await put({});
  expect(await statuses()).toEqual([200, 200, 200]);
});

test('a token that is created while a policy is saved cannot escape it', async () => {
  const client = await identity.db.connect();
  try {
    await client.query('begin; select from users for update');
    // It has read the policy, and waits for its owner.
    const creating = create({ expiryDays: 'never' });
    await waitForLockWaiters(identity.db);
    await put({ allowsNever: false });
    await client.query('commit');
    const created = await creating;
    expect([created.status, await getStatus(created.body.token as CreatedToken)]).toEqual([201, 401]);
  } finally {
    client.release();
  }
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

test('rejects invalid policies with 400', async () => {
  for (const fields of [
    { maxLifetimeDays: 0 },
    { maxLifetimeDays: 3_651 },
    { deniedScopes: ['no:scope'] },
    { allowList: ['10.0.0.1/8'] },
    { allowsNever: 'no' },
    { extra: 1 },
    { allowList: undefined },
  ])
    expect([fields, (await put(fields)).status]).toEqual([fields, 400]);
  expect((await put({}, '?dryRun=maybe')).status).toBe(400);
});

test('a dry run names the tokens that the policy would limit, and changes nothing', async () => {
  const member = await identity.createMember(session);
  const make = (fields: object, token = session) =>
    identity.createToken(token, { scopes: ['user:read'], ...fields });
  const fine = await make({ name: 'fine', expiryDays: 30 });
  const long = await make({ name: 'long', expiryDays: 365 });
  const forever = await make({ name: 'forever', expiryDays: 'never' }, member.session);
  const scoped = await make({ name: 'scoped', scopes: ['user:read', 'crawl:delete'] }, member.session);
  const other = await identity.createOrganisation('policy@example.com');
  const foreign = await identity.createToken(other.session, { scopes: ['user:read'], expiryDays: 'never' });
  const policy = { maxLifetimeDays: 90, allowsNever: false, deniedScopes: ['crawl:delete'] };
  const dry = await put(policy, '?dryRun=true');
  expect([dry.status, dry.body.affectedCount]).toEqual([200, 3]);
  const affected = dry.body.affected as {
    ownerEmail: string;
    tokens: { name: string; breaches: string[] }[];
  }[];
  expect(
    affected.map(({ ownerEmail, tokens }) => [
      ownerEmail,
      tokens.map(({ name, breaches }) => [name, breaches]),
    ]),
  ).toEqual([
    [
      member.email,
      [
        ['scoped', ['scope']],
        ['forever', ['never']],
      ],
    ],
    ['admin@example.com', [['long', ['lifetime']]]],
  ]);
  expect((await identity.call('GET', policyPath, { token: session })).body.policy).toEqual(noPolicy);
  const tokens = [fine, long, forever, scoped, foreign];
  expect(await Promise.all(tokens.map(getStatus))).toEqual(tokens.map(() => 200));
  expect((await put(policy)).body).toEqual(dry.body);
});

test('a dry run counts every token and names 1,000', async () => {
  const { id } = await identity.createToken(session, { expiryDays: 'never' });
  await identity.db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
     select gen_random_uuid(), org_id, owner_id, name, scopes, gen_random_uuid()::text, signing_key_id, created_at
     from personal_access_tokens, generate_series(1, 1500) where id = $1`,
    [id],
  );
  const dry = await put({ allowsNever: false }, '?dryRun=true');
  expect([dry.body.affectedCount, dry.body.affected[0].tokens.length]).toEqual([1_501, 1_000]);
});

test('a dry run names the tokens that the allow list would refuse where they are used', async () => {
  const use = async ({ accessToken: token }: CreatedToken, address: string) =>
    (await identity.call('GET', '/api/v1/users/me', { token, headers: { 'x-forwarded-for': address } }))
      .status;
  const make = (name: string, fields: object = {}) =>
    identity.createToken(session, { name, scopes: ['user:read'], ...fields });
  const [outside, inside] = [await make('used outside'), await make('used inside')];
  await make('allowed elsewhere', { allowList: ['198.51.100.0/24'] });
  await make('allowed in a part', { allowList: ['203.0.113.0/28'] });
  await make('never used');
  expect([await use(outside, '198.51.100.1'), await use(inside, '203.0.113.1')]).toEqual([200, 200]);
  await waitFor(
    async () =>
      (await identity.db.query('select from token_last_used where address is not null')).rowCount === 2,
    { what: 'the last uses to be stored' },
  );
  const policy = { allowList: ['203.0.113.0/24'] };
  const dry = await put(policy, '?dryRun=true');
  expect(dry.body).toMatchObject({ affectedCount: 2 });
  expect(dry.body.affected[0].tokens).toMatchObject([
    { name: 'allowed elsewhere', breaches: ['address'] },
    { name: 'used outside', breaches: ['address'] },
  ]);
  expect((await put(policy)).body).toEqual(dry.body);
  expect([await use(outside, '198.51.100.1'), await use(outside, '203.0.113.1')]).toEqual([401, 200]);
});
