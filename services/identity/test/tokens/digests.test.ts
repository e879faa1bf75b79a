import { DAY_MS } from '@platform/service-kit';
import { checkUseStatement } from '../../src/tokens/watch/unused/unused.sql.js';
import { startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { createOrganisation, createReplicas, type DigestLine } from './organisation.js';

/* Digests about tokens that expire or are unused, and the revocation of unused tokens. Two replicas run each job. */

const HOUR = 1 / 24;

// Nothing answers there: mails stay in the outbox, where the tests read them.
const identity = await startIdentity({ environment: { MAIL_URL: 'http://127.0.0.1:9' } });
afterAll(() => identity.close());

const toNames = (tokens: readonly DigestLine[] = []) => tokens.map(({ name = '' }) => name);

test('PAT-32 a token is mailed about 14, 7 and 1 days before it expires and afterwards, each once', async () => {
  const { orgId, insertToken, takeDigests } = await createOrganisation(identity);
  // The start of a day, so that the notices of each day are due at its first run.
  const now = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const token = { now, expiresIn: 20.5 };
  await insertToken('CI', token);
  await insertToken('muted', { ...token, fields: 'mutes_notices = true' });
  await insertToken('revoked', { ...token, fields: `status = 'revoked', revoked_at = now()` });
  const { runAfter } = createReplicas(identity, now);
  const mailed: [day: number, names: string[]][] = [];
  for (let day = 5; day <= 22; day += 1) {
    await runAfter(day);
    for (const { tokens } of await takeDigests()) mailed.push([day, toNames(tokens)]);
  }
  expect(mailed).toEqual([6, 13, 19, 21].map((day) => [day, ['CI']]));
  const { rows } = await identity.db.query(
    `select detail->>'name' as name, count(*)::int from audit_entries
     where org_id = $1 and action = 'token.expiring' group by 1`,
    [orgId],
  );
  expect(rows).toEqual([{ name: 'CI', count: 4 }]);
});

test('PAT-32 the notices of a day are one mail per person, and what is due later waits for the next day', async () => {
  const { session, adminId, insertToken, takeDigests } = await createOrganisation(identity);
  const { id: otherId } = await identity.createMember(session);
  await insertToken('in two weeks', { expiresIn: 13.5 });
  await insertToken('in a week', { expiresIn: 6.5 });
  await insertToken('later', { expiresIn: 20 });
  await insertToken('just expired', { expiresIn: -0.1 });
  await insertToken('long expired', { expiresIn: -10, fields: `status = 'expired'` });
  await insertToken('for five days', { expiresIn: 4.5, createdAgo: 0.5 });
  await insertToken('of another', { expiresIn: 6.5, ownerId: otherId });
  const { runAfter } = createReplicas(identity);
  await runAfter(0);
  const digests = (await takeDigests()).map(({ userId, tokens }) => [userId, toNames(tokens)]);
  expect(digests).toHaveLength(2);
  expect(new Map(digests as [string, string[]][])).toEqual(
    new Map([
      [adminId, ['just expired', 'in a week', 'in two weeks']],
      [otherId, ['of another']],
    ]),
  );
  await insertToken('late', { expiresIn: 6.5 });
  await runAfter(0);
  expect(await takeDigests()).toEqual([]);
  await runAfter(1);
  expect((await takeDigests()).map(({ tokens }) => toNames(tokens))).toEqual([['late']]);
});

test('PAT-32 administrators are mailed about the tokens of service accounts, with their own in one mail', async () => {
  const { session, adminId, createAccount, insertToken, takeDigests } = await createOrganisation(identity);
  const { id: otherId } = await identity.createMember(session, 'admin');
  const { id: memberId } = await identity.createMember(session);
  await insertToken('deploy', { expiresIn: 6, accountId: await createAccount('deployer') });
  await insertToken('own', { expiresIn: 6.5, ownerId: otherId });
  await insertToken('of a member', { expiresIn: 6.5, ownerId: memberId });
  await createReplicas(identity).runAfter(0);
  const digests = await takeDigests();
  expect(digests).toHaveLength(3);
  const find = (id: string) => digests.find(({ userId }) => userId === id);
  // The administrator's tokens are among the organisation's.
  expect(find(otherId)).toMatchObject({
    page: 'organisation',
    tokens: [{ name: 'deploy', account: 'deployer' }, { name: 'own' }],
  });
  expect(find(adminId)).toMatchObject({ page: 'organisation', tokens: [{ name: 'deploy' }] });
  expect(find(memberId)).toMatchObject({ page: 'own', tokens: [{ name: 'of a member' }] });
});

test('PAT-36 unused tokens are warned about once, and revoked a week later', async () => {
  const organisation = await createOrganisation(identity);
  const { adminId, putLongAgo, insertToken, use, takeDigests, findRevoked } = organisation;
  const { runAfter } = createReplicas(identity);
  await insertToken('never used');
  const long = await insertToken('used long ago');
  await use(long, Date.now() - 31 * DAY_MS);
  const recent = await insertToken('used last week');
  await use(recent, Date.now() - 7 * DAY_MS);
  await insertToken('new', { createdAgo: 1 });

  await putLongAgo({ revokeUnusedDays: 30 });

  await runAfter(0);
  const digests = await takeDigests();
  expect(digests.map(({ userId, tokens }) => [userId, toNames(tokens).toSorted()])).toEqual([
    [adminId, ['never used', 'used long ago']],
  ]);
  const day = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
  expect(digests[0]?.tokens[0]).toMatchObject({ state: 'unused', revokedFrom: day });
  for (const days of [1, 3, 7]) await runAfter(days);
  expect([await takeDigests(), await findRevoked()]).toEqual([[], []]);
  await runAfter(7 + HOUR);
  expect(await findRevoked()).toEqual(['never used', 'used long ago']);
  const { rows } = await identity.db.query(
    `select actor_id, credential_id, reason, count(*)::int from audit_entries
     where org_id = $1 and action = 'token.revoked' group by 1, 2, 3`,
    [organisation.orgId],
  );
  expect(rows).toEqual([{ actor_id: null, credential_id: null, reason: 'unused', count: 2 }]);
  // The token that was used a week before is warned about 23 days after its use.
  await runAfter(15);
  expect(await takeDigests()).toEqual([]);
  await runAfter(17);
  expect((await takeDigests()).flatMap(({ tokens }) => toNames(tokens))).toEqual(['used last week']);
});

test('PAT-36 days without a use count from when the rule was tightened, however often the policy is saved', async () => {
  const { put, insertToken, takeDigests, findRevoked } = await createOrganisation(identity);
  const { runAfter } = createReplicas(identity);
  await insertToken('unused for long');
  await put({ revokeUnusedDays: 30 });
  await runAfter(22);
  expect(await takeDigests()).toEqual([]);
  // The same number of days does not restart the count.
  expect((await put({ revokeUnusedDays: 30, allowList: ['10.0.0.0/8'] })).status).toBe(200);
  await runAfter(24);
  expect(await takeDigests()).toHaveLength(1);
  await runAfter(30);
  expect(await findRevoked()).toEqual([]);
  await runAfter(32);
  expect(await findRevoked()).toEqual(['unused for long']);
});

test('PAT-36 a token that is used after its warning is kept, and warned about again when it is unused again', async () => {
  const { putLongAgo, insertToken, use, takeDigests, findRevoked } = await createOrganisation(identity);
  const { runAfter } = createReplicas(identity);
  const id = await insertToken('used again');
  await putLongAgo({ revokeUnusedDays: 30 });
  await runAfter(0);
  expect(await takeDigests()).toHaveLength(1);
  await use(id, Date.now() + 6.9 * DAY_MS);
  for (const days of [7 + HOUR, 29]) await runAfter(days);
  expect([await takeDigests(), await findRevoked()]).toEqual([[], []]);
  await runAfter(30);
  expect(await takeDigests()).toHaveLength(1);
  await runAfter(36.5);
  expect(await findRevoked()).toEqual([]);
  await runAfter(37 + 2 * HOUR);
  expect(await findRevoked()).toEqual(['used again']);
});

test('PAT-36 a use that is stored while the token is being revoked keeps it', async () => {
  const { orgId, putLongAgo, adminId, insertToken, use, findRevoked } = await createOrganisation(identity);
  const { runAfter } = createReplicas(identity);
  const id = await insertToken('used in the last moment');
  await putLongAgo({ revokeUnusedDays: 30 });
  await runAfter(0);
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query('select from users where id = $1 for update', [adminId]);
    const running = runAfter(7 + HOUR);
    await waitForLockWaiters(identity.db);
    await use(id, Date.now() + 7 * DAY_MS);
    await client.query('commit');
    await running;
  } finally {
    client.release();
  }
  expect(await findRevoked()).toEqual([]);
  const { rows } = await identity.db.query(
    `select status from personal_access_tokens where org_id = $1 and name = 'used in the last moment'`,
    [orgId],
  );
  expect(rows).toEqual([{ status: 'active' }]);
});

test('PAT-36 a policy revokes nothing once it is switched off, and warns again once it is switched on again', async () => {
  const { put, putLongAgo, insertToken, takeDigests, findRevoked } = await createOrganisation(identity);
  const { runAfter } = createReplicas(identity);
  await insertToken('spared');
  await putLongAgo({ revokeUnusedDays: 30 });
  await runAfter(0);
  expect(await takeDigests()).toHaveLength(1);
  expect((await put({})).body.policy.revokeUnusedDays).toBeNull();
  for (const days of [8, 100]) await runAfter(days);
  expect([await takeDigests(), await findRevoked()]).toEqual([[], []]);
  await putLongAgo({ revokeUnusedDays: 30 });
  await runAfter(101);
  expect(await takeDigests()).toHaveLength(1);
  expect(await findRevoked()).toEqual([]);
});

test('PAT-36 administrators are warned about the tokens of service accounts, and what a token created is kept', async () => {
  const { adminId, putLongAgo, createAccount, insertToken, takeDigests, findRevoked } =
    await createOrganisation(identity);
  const { runAfter } = createReplicas(identity);
  await insertToken('sync', { accountId: await createAccount('mirror') });
  const parent = await insertToken('parent');
  const child = await insertToken('child', { createdAgo: 5 });
  await identity.db.query('update personal_access_tokens set parent_id = $1 where id = $2', [parent, child]);
  await putLongAgo({ revokeUnusedDays: 30 });
  await runAfter(0);
  const digests = await takeDigests();
  expect(digests.map(({ userId }) => userId)).toEqual([adminId]);
  const tokens = digests[0]?.tokens.map(({ name, account }) => `${name}, ${account}`);
  expect(tokens?.toSorted()).toEqual(['parent, ', 'sync, mirror']);
  await runAfter(7 + HOUR);
  expect(await findRevoked()).toEqual(['parent', 'sync']);
  const { rows } = await identity.db.query(
    `select detail->>'notice' as notice, merge_key from outgoing_mails
     where kind = 'token_alert' and user_id = $1 order by id`,
    [adminId],
  );
  expect(rows).toEqual([1, 2].map(() => ({ notice: 'tokenUnused', merge_key: 'token-unused' })));
});

test('the job finds what to look at by index, however many tokens there are', async () => {
  const { put, insertToken } = await createOrganisation(identity);
  await put({ revokeUnusedDays: 30 });
  const id = await insertToken('one of many', { createdAgo: 1 });
  await identity.db.query(
    `insert into personal_access_tokens
       (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, use_checked_until)
     select gen_random_uuid(), org_id, owner_id, name, scopes, gen_random_uuid()::text, signing_key_id, created_at, now()
     from personal_access_tokens, generate_series(1, 10000) where id = $1`,
    [id],
  );
  await identity.db.query('analyze personal_access_tokens, token_policies');
  const { rows } = await identity.db.query<{ 'QUERY PLAN': string }>(`explain ${checkUseStatement}`, [
    new Date(),
    500,
  ]);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan.match(/(using|on) tokens_to_check/g)).toHaveLength(2);
  expect(plan).not.toContain('Seq Scan on personal_access_tokens');
});
