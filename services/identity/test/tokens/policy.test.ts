import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { noPolicy, policyPath } from '../token-policy.js';
import { createTokens, lockOwner, type Tokens } from './tokens.js';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
afterAll(() => identity.close());

let email: string;
let orgId: string;
let session: string;
let tokens: Tokens;
let count = 0;
beforeEach(async () => {
  email = `policy-${++count}@example.com`;
  ({ orgId, session } = await identity.createOrganisation(email));
  tokens = createTokens(identity, session);
});

const put = (policy: object, query = '') =>
  identity.call('PUT', policyPath + query, { token: session, body: { ...noPolicy, ...policy } });
const readPolicy = async () => (await identity.call('GET', policyPath, { token: session })).body.policy;
const getDays = ({ body }: { body: { token: CreatedToken } }) =>
  (Date.parse(body.token.expiresAt ?? '') - Date.parse(body.token.createdAt)) / DAY_MS;

test('there is no restriction at first, and a saved policy is returned and audited', async () => {
  expect(await readPolicy()).toEqual(noPolicy);
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
  expect(await readPolicy()).toEqual(shown);
  const { rows } = await identity.db.query(
    `select changes from audit_entries where action = 'configuration.token_policy_saved' and org_id = $1`,
    [orgId],
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

test('PAT-30 new tokens and rotations follow the policy: defaults are limited, and explicit values are rejected', async () => {
  const forever = await tokens.make(session, { expiryDays: 'never' });
  await put({ maxLifetimeDays: 10, deniedScopes: ['crawl:delete'] });
  expect(getDays(await tokens.create())).toBeCloseTo(10, 3);
  for (const [fields, field] of [
    [{ expiryDays: 30 }, 'expiryDays'],
    [{ expiryDays: 'never' }, 'expiryDays'],
    [{ scopes: ['user:read', 'crawl:delete'] }, 'scopes.1'],
  ] as const) {
    const answer = await tokens.create(fields);
    expect([answer.status, answer.body.error.details[0].field]).toEqual([400, field]);
  }
  const defaults = await tokens.create({ scopes: undefined });
  expect(defaults.body.token.scopes).toEqual(expect.not.arrayContaining(['crawl:delete']));
  const grantable = await tokens.call('GET', '/scopes');
  expect(['"crawl:write"', '"crawl:delete"'].map((scope) => grantable.text.includes(scope))).toEqual([
    true,
    false,
  ]);
  expect(getDays(await tokens.rotate(forever.id))).toBeCloseTo(10, 3);
  await put({ allowsNever: false });
  expect((await tokens.create({ expiryDays: 'never' })).status).toBe(400);
  expect((await tokens.create({ expiryDays: 365 })).status).toBe(201);
});

test('an administrator who is demoted in the meantime cannot save a policy', async () => {
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query('select from organisations where id = $1 for update', [orgId]);
    const saving = put({ allowsNever: false });
    await waitForLockWaiters(identity.db);
    await client.query(`update users set role = 'member' where org_id = $1`, [orgId]);
    await client.query('commit');
    expect((await saving).body.error.code).toBe('ADMIN_REQUIRED');
  } finally {
    client.release();
  }
});

test('a token that is created while a policy is saved cannot escape it', async () => {
  const release = await lockOwner(identity, await tokens.make());
  // It has read the policy, and waits for its owner.
  const creating = tokens.create({ expiryDays: 'never' });
  await waitForLockWaiters(identity.db);
  await put({ allowsNever: false });
  await release();
  const created = await creating;
  expect([created.status, await tokens.statuses(created.body.token)]).toEqual([201, [401]]);
});

test('PAT-30 rejects invalid policies', async () => {
  for (const fields of [
    { maxLifetimeDays: 0 },
    { maxLifetimeDays: 3_651 },
    { deniedScopes: ['no:scope'] },
    { allowList: ['10.0.0.1/8'] },
    { revokeUnusedDays: 7 },
    { revokeUnusedDays: 3_651 },
    { allowList: undefined },
  ])
    expect([fields, (await put(fields)).status]).toEqual([fields, 400]);
  // Nobody could be warned.
  const withoutMails = await put({ revokeUnusedDays: 8 });
  expect([withoutMails.status, withoutMails.body.error.code]).toEqual([409, 'MAIL_SERVICE_REQUIRED']);
});

test('a dry run names the tokens that the policy would limit, and changes nothing', async () => {
  const member = await identity.createMember(session);
  const fine = await tokens.make(session, { name: 'fine' });
  const long = await tokens.make(session, { name: 'long', expiryDays: 365 });
  const forever = await tokens.make(member.session, { name: 'forever', expiryDays: 'never' });
  const scopes = ['user:read', 'crawl:delete'];
  const scoped = await tokens.make(member.session, { name: 'scoped', scopes });
  const other = await identity.createOrganisation('other-policy@example.com');
  const foreign = await tokens.make(other.session, { expiryDays: 'never' });
  const policy = { maxLifetimeDays: 90, allowsNever: false, deniedScopes: ['crawl:delete'] };
  const dry = await put(policy, '?dryRun=true');
  expect([dry.status, dry.body.affectedCount]).toEqual([200, 3]);
  expect(dry.body.affected).toMatchObject([
    {
      ownerEmail: member.email,
      tokens: [
        { name: 'scoped', breaches: ['scope'] },
        { name: 'forever', breaches: ['never'] },
      ],
    },
    { ownerEmail: email, tokens: [{ name: 'long', breaches: ['lifetime'] }] },
  ]);
  expect(await readPolicy()).toEqual(noPolicy);
  expect(await tokens.statuses(fine, long, forever, scoped, foreign)).toEqual([200, 200, 200, 200, 200]);
  expect((await put(policy)).body).toEqual(dry.body);
});

test('a dry run counts every token and names 1,000', async () => {
  const { id } = await tokens.make(session, { expiryDays: 'never' });
  await identity.db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
     select gen_random_uuid(), org_id, owner_id, name, scopes, gen_random_uuid()::text, signing_key_id, created_at
     from personal_access_tokens, generate_series(1, 1000) where id = $1`,
    [id],
  );
  const dry = await put({ allowsNever: false }, '?dryRun=true');
  expect([dry.body.affectedCount, dry.body.affected[0].tokens.length]).toEqual([1_001, 1_000]);
});

test('a dry run names the tokens that the allow list would refuse where they are used', async () => {
  const useFrom = async ({ accessToken: token }: CreatedToken, address: string) =>
    (await identity.call('GET', '/api/v1/users/me', { token, headers: { 'x-forwarded-for': address } }))
      .status;
  const make = (name: string, fields: object = {}) => tokens.make(session, { name, ...fields });
  const [outside, inside] = [await make('used outside'), await make('used inside')];
  await make('allowed elsewhere', { allowList: ['198.51.100.0/24'] });
  await make('allowed in a part', { allowList: ['203.0.113.0/28'] });
  await make('never used');
  expect([await useFrom(outside, '198.51.100.1'), await useFrom(inside, '203.0.113.1')]).toEqual([200, 200]);
  const findUses = 'select from token_last_used where token_id = any($1)';
  const hasUses = async () => (await identity.db.query(findUses, [[outside.id, inside.id]])).rowCount === 2;
  await waitFor(hasUses, { what: 'the last uses to be stored' });
  const policy = { allowList: ['203.0.113.0/24'] };
  const dry = await put(policy, '?dryRun=true');
  expect(dry.body).toMatchObject({ affectedCount: 2 });
  expect(dry.body.affected[0].tokens).toMatchObject([
    { name: 'allowed elsewhere', breaches: ['address'] },
    { name: 'used outside', breaches: ['address'] },
  ]);
  expect((await put(policy)).body).toEqual(dry.body);
  expect([await useFrom(outside, '198.51.100.1'), await useFrom(outside, '203.0.113.1')]).toEqual([401, 200]);
});

test('PAT-30 a policy holds for existing tokens from the next request on, and gives back what it took', async () => {
  const make = (expiryDays: unknown) => tokens.make(session, { scopes: ['user:read'], expiryDays });
  const made = [await make(365), await make(30), await make('never')];
  const statuses = () => tokens.statuses(...made);
  await put({ allowsNever: false });
  expect(await statuses()).toEqual([200, 200, 401]);
  await put({ deniedScopes: ['user:read'] });
  expect(await statuses()).toEqual([403, 403, 403]);
  await put({ maxLifetimeDays: 20, allowsNever: false });
  expect(await statuses()).toEqual([200, 200, 200]);
  // Of a token that is older than the longest lifetime, the policy decides, not its own expiry.
  identity.advance(21 * DAY_MS);
  session = await identity.login({ email, password: 'correct-horse-battery' });
  expect(await statuses()).toEqual([401, 401, 401]);
  await put({ maxLifetimeDays: 22 });
  expect(await statuses()).toEqual([200, 200, 200]);
  await put({});
  expect(await statuses()).toEqual([200, 200, 200]);
});
