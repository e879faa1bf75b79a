import type { Answer } from '@platform/testing';
import { type IdentityUnderTest, type Member, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { noPolicy, policyPath } from './no-policy.js';

const path = '/api/v1/personal-access-tokens';
let identity: IdentityUnderTest;
let session: string;
let member: Member;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
});
beforeEach(async () => {
  member = await identity.createMember(session);
  await put({});
});
afterAll(() => identity.close());

const put = (policy: object) =>
  identity.call('PUT', policyPath, { token: session, body: { ...noPolicy, ...policy } });

/** Sends a request that has read the policy, and is about to store a token when the policy is saved. */
async function saveDuring(
  policy: object,
  send: () => Promise<Answer>,
  owners = 'users',
  ownerId = member.id,
) {
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query(`select from ${owners} where id = $1 for update`, [ownerId]);
    const sending = send();
    await waitForLockWaiters(identity.db);
    const saved = await put(policy);
    expect([saved.status, saved.body.affectedCount]).toEqual([200, 0]);
    await client.query('commit');
    return await sending;
  } finally {
    client.release();
  }
}

test('a token that is created while a policy is saved fits the saved one', async () => {
  const create = (body: object) =>
    identity.call('POST', path, {
      token: member.session,
      body: { name: 'x', scopes: ['user:read'], ...body },
    });
  const never = await saveDuring({ allowsNever: false, existingTokens: 'revoke' }, () =>
    create({ expiryDays: 'never' }),
  );
  expect([never.status, never.body.error?.details[0].field]).toEqual([400, 'expiryDays']);
  const cut = await saveDuring({ maxLifetimeDays: 10 }, () => create({}));
  expect(cut.status).toBe(201);
  expect(Date.parse(cut.body.token.expiresAt)).toBeLessThan(Date.now() + 11 * 86_400_000);
});

test('so does the first policy of an organisation, and a token of a service account', async () => {
  const other = await identity.createOrganisation('first-policy@example.com');
  session = other.session;
  const { body } = await identity.call('POST', '/api/v1/service-accounts', {
    token: session,
    body: { name: 'mirror', role: 'member' },
  });
  const { id } = body.serviceAccount;
  try {
    const denied = await saveDuring(
      { deniedScopes: ['crawl:read'] },
      () =>
        identity.call('POST', `/api/v1/service-accounts/${id}/tokens`, {
          token: session,
          body: { name: 'x', scopes: ['crawl:read'] },
        }),
      'service_accounts',
      id,
    );
    expect([denied.status, denied.body.error?.details[0].field]).toEqual([400, 'scopes.0']);
  } finally {
    session = await identity.login();
  }
});

test('a token that is rotated while a policy is saved fits the saved one', async () => {
  const token = await identity.createToken(member.session, { scopes: ['user:read'], expiryDays: 30 });
  const rotate = () =>
    identity.call('POST', `${path}/${token.id}/rotate`, { token: member.session, body: { expiryDays: 90 } });
  const rotated = await saveDuring({ maxLifetimeDays: 40 }, rotate);
  expect([rotated.status, rotated.body.error?.details[0].field]).toEqual([400, 'expiryDays']);
});
