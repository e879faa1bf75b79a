import { waitFor } from '@platform/testing';
import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';
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
const getStatus = async ({ accessToken: token }: CreatedToken) =>
  (await identity.call('GET', '/api/v1/users/me', { token })).status;

test('a dry run lists the tokens that would be revoked, and exactly these are then revoked', async () => {
  const member = await identity.createMember(session);
  const make = (fields: object, token = session) =>
    identity.createToken(token, { scopes: ['user:read'], ...fields });
  const fine = await make({ name: 'fine', expiryDays: 30 });
  const long = await make({ name: 'long', expiryDays: 365 });
  const forever = await make(
    { name: 'forever', expiryDays: 'never', scopes: ['user:read', 'pat:write'] },
    member.session,
  );
  const child = await make({ name: 'child', expiryDays: 30 }, forever.accessToken);
  const scoped = await make({ name: 'scoped', scopes: ['user:read', 'crawl:delete'] }, member.session);
  const other = await identity.createOrganisation('policy@example.com');
  const foreign = await identity.createToken(other.session, { scopes: ['user:read'], expiryDays: 'never' });
  const tokens = [fine, long, forever, child, scoped, foreign];
  const policy = { maxLifetimeDays: 90, allowsNever: false, deniedScopes: ['crawl:delete'] };

  const undecided = await put(policy);
  expect([undecided.status, undecided.body.error.code]).toEqual([409, 'EXISTING_TOKENS']);
  const dry = await put({ ...policy, existingTokens: 'revoke' }, '?dryRun=true');
  expect(dry.status).toBe(200);
  expect(dry.body).toMatchObject({ affectedCount: 3, revokedCount: 4 });
  const byOwner = new Map(
    (dry.body.affected as { ownerEmail: string; tokens: { name: string; breaches: string[] }[] }[]).map(
      (owner) => [owner.ownerEmail, owner.tokens.map(({ name, breaches }) => [name, breaches])],
    ),
  );
  expect(byOwner).toEqual(
    new Map([
      [
        member.email,
        [
          ['scoped', ['scope']],
          ['forever', ['never']],
          ['child', ['family']],
        ],
      ],
      ['admin@example.com', [['long', ['lifetime']]]],
    ]),
  );
  expect(await Promise.all(tokens.map(getStatus))).toEqual(tokens.map(() => 200));
  expect((await identity.call('GET', policyPath, { token: session })).body.policy).toEqual(noPolicy);

  const saved = await put({ ...policy, existingTokens: 'revoke' });
  expect([saved.body.affected, saved.body.revokedCount]).toEqual([dry.body.affected, 4]);
  expect(await Promise.all(tokens.map(getStatus))).toEqual([200, 401, 401, 401, 401, 200]);
  const { rows } = await identity.db.query(
    `select distinct revoked_reason from personal_access_tokens where status = 'revoked'`,
  );
  expect(rows).toEqual([{ revoked_reason: 'policy' }]);
});

test('a dry run lists a predecessor that still works, which is revoked with its successor', async () => {
  const old = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 'never' });
  const rotation = { token: session, body: { graceSeconds: 3_600 } };
  const answer = await identity.call('POST', `${tokensPath}/${old.id}/rotate`, rotation);
  const next = answer.body.token as CreatedToken;
  const policy = { allowsNever: false, existingTokens: 'revoke' };
  const dry = await put(policy, '?dryRun=true');
  expect(dry.body).toMatchObject({ affectedCount: 1, revokedCount: 2 });
  expect(dry.body.affected[0].tokens).toMatchObject([
    { id: next.id, breaches: ['never'] },
    { id: old.id, breaches: ['family'] },
  ]);
  expect((await put(policy)).body).toEqual(dry.body);
  expect([await getStatus(old), await getStatus(next)]).toEqual([401, 401]);
});

test('a dry run lists the tokens that the allow list would refuse where they are used', async () => {
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
  expect((await put(policy)).body.error.code).toBe('EXISTING_TOKENS');
  const dry = await put(policy, '?dryRun=true');
  expect(dry.body).toMatchObject({ affectedCount: 2, revokedCount: 0 });
  expect(dry.body.affected[0].tokens).toMatchObject([
    { name: 'allowed elsewhere', breaches: ['address'] },
    { name: 'used outside', breaches: ['address'] },
  ]);
  expect((await put({ ...policy, existingTokens: 'keep' })).body).toEqual(dry.body);
  expect([await use(outside, '198.51.100.1'), await use(outside, '203.0.113.1')]).toEqual([401, 200]);
});
