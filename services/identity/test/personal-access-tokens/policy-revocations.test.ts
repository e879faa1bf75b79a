import { createLogger } from '@platform/service-kit';
import { callUrl, waitFor } from '@platform/testing';
import { createOutbox } from '../../src/features/outgoing-mails/outbox.js';
import { findAffected } from '../../src/features/token-policy/affected.js';
import { DEFAULT_POLICY } from '../../src/features/token-policy/policy.js';
import { createPolicyRevocationJob } from '../../src/features/token-policy/revocation.job.js';
import { revokeAffected } from '../../src/features/token-policy/revoke-affected.js';
import { createSecretBox } from '../../src/secret-box.js';
import { encryptionKeys, type IdentityUnderTest, PATIENT, startIdentity } from '../identity.js';
import { type Server, startServer } from '../process/process.js';
import { noPolicy, policyPath } from './no-policy.js';
import { createOrganisation } from './unused-organisation.js';

const MEMBERS = 4;
const policy = { allowsNever: false };
// Nothing answers there: mails stay in the outbox, where the tests read them.
const MAIL_URL = 'http://127.0.0.1:9';
const outbox = createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
let identity: IdentityUnderTest;
let replica: Server | undefined;

beforeAll(async () => {
  identity = await startIdentity({ environment: { MAIL_URL } });
  // Revocations beyond the limit wait, so that the replica dies in the middle of them.
  await identity.db.query(`
    create table revocation_limit (count integer);
    insert into revocation_limit values (0);
    create function wait_for_limit() returns trigger language plpgsql as $$ begin
      while (select count from revocation_limit) <= (select count(*) from audit_entries where reason = 'policy')
      loop perform pg_sleep(0.02); end loop;
      return new;
    end $$;
    create trigger wait_for_limit before insert on audit_entries for each row when (new.reason = 'policy')
      execute function wait_for_limit()`);
});
afterEach(async () => {
  replica?.child.kill('SIGKILL');
  await replica?.exit;
});
afterAll(() => identity.close());

/** Runs the jobs of two replicas at once, at a time when the request has failed for sure. */
const runJobs = () =>
  Promise.allSettled(
    [1, 2].map(() =>
      createPolicyRevocationJob({
        pool: identity.db,
        outbox,
        clock: () => Date.now() + 120_000,
        log: createLogger('identity', 'silent', { write: () => undefined }),
      }).run(),
    ),
  );
const setLimit = async (more: number) => {
  await identity.db.query(
    `update revocation_limit set count = $1 + (select count(*) from audit_entries where reason = 'policy')`,
    [more],
  );
};

/** An organisation whose members have so many tokens each that the policy does not allow. */
async function createViolations({ members = MEMBERS, tokensEach = 2 } = {}) {
  const organisation = await createOrganisation(identity);
  const { orgId, session } = organisation;
  const owners: string[] = [];
  for (let count = 0; count < members; count += 1) owners.push((await identity.createMember(session)).id);
  for (const ownerId of owners)
    for (let count = 0; count < tokensEach; count += 1)
      await organisation.insertToken(`${count}`, { ownerId });
  const read = async <T>(sql: string): Promise<T[]> => (await identity.db.query(sql, [orgId])).rows as T[];
  const countRevoked = async () =>
    (await read(`select from audit_entries where org_id = $1 and reason = 'policy'`)).length;
  const isMarked = async () =>
    (await read(`select from token_policies where org_id = $1 and revoking_version is not null`)).length ===
    1;
  return {
    ...organisation,
    owners: owners.toSorted(),
    countRevoked,
    countActive: async () =>
      (await read(`select from personal_access_tokens where org_id = $1 and status = 'active'`)).length,
    isMarked,
    finish: () =>
      waitFor(
        async () => {
          await runJobs();
          return !(await isMarked());
        },
        { what: 'the revocations to be finished' },
      ),
    findRevoked: () =>
      read<{ revoked_by: string }>(
        `select distinct revoked_by from personal_access_tokens where org_id = $1 and revoked_reason = 'policy'`,
      ),
    findMailed: async () =>
      (
        await read<{ user_id: string }>(
          `select user_id from outgoing_mails where kind = 'token_alert'
             and user_id in (select id from users where org_id = $1) order by user_id`,
        )
      ).map(({ user_id: id }) => id),
    /** Saves the policy at a replica that is killed after so many revocations. */
    async saveAndKill(count = 4) {
      await setLimit(count);
      replica = await startServer({
        ...PATIENT,
        DATABASE_URL: identity.databaseUrl,
        ENCRYPTION_KEYS: encryptionKeys,
        HOST: '127.0.0.1',
        PORT: '0',
        MAIL_URL,
      });
      const body = { ...noPolicy, ...policy, existingTokens: 'revoke' };
      const saving = callUrl(replica.url + policyPath, 'PUT', { token: session, body }).catch(
        () => undefined,
      );
      await waitFor(async () => (await countRevoked()) === count, { what: 'the revocations' });
      replica.child.kill('SIGKILL');
      await replica.exit;
      expect(await saving).toBeUndefined();
      expect(await countRevoked()).toBe(count);
      await setLimit(1_000);
    },
  };
}

test('the tokens that a policy does not allow are revoked, although the replica that saves it is killed', async () => {
  const { adminId, owners, isMarked, finish, ...organisation } = await createViolations();
  await organisation.saveAndKill();
  expect([await isMarked(), await organisation.countActive()]).toEqual([true, 4]);
  await finish();
  expect(await isMarked()).toBe(false);
  expect([await organisation.countActive(), await organisation.countRevoked()]).toEqual([0, 2 * MEMBERS]);
  expect(await organisation.findRevoked()).toEqual([{ revoked_by: adminId }]);
  expect(await organisation.findMailed()).toEqual(owners);
});

test('an owner gets one mail, also when the replica is killed between two batches of their tokens', async () => {
  const { owners, ...organisation } = await createViolations({ members: 1, tokensEach: 60 });
  await organisation.saveAndKill(50);
  await organisation.finish();
  expect(await organisation.countActive()).toBe(0);
  expect(await organisation.findMailed()).toEqual(owners);
});

test('a policy that is saved again ends the revocations of the save before', async () => {
  const { orgId, put, isMarked, ...organisation } = await createViolations();
  await organisation.saveAndKill();
  const { rows } = await identity.db.query<{ version: Date }>(
    'select updated_at as version from token_policies where org_id = $1',
    [orgId],
  );
  expect((await put({ ...policy, existingTokens: 'keep' })).status).toBe(200);
  expect(await isMarked()).toBe(false);
  await runJobs();
  // As a request does whose policy is saved again in the meantime.
  const at = new Date();
  const tokens = await findAffected(identity.db, orgId, { ...DEFAULT_POLICY, ...policy }, at);
  const by = { orgId, userId: organisation.adminId, fullName: 'Admin', email: 'a@example.com' };
  const revokedCount = await revokeAffected(
    { pool: identity.db, outbox },
    { orgId, version: rows[0]?.version ?? at },
    { ...by, kind: null, credentialId: null, client: null },
    tokens,
    at,
  );
  expect([tokens.length, revokedCount, await organisation.countActive()]).toEqual([4, 0, 4]);
});

test('a mark that a save by an older replica left behind revokes nothing', async () => {
  const { orgId, put, isMarked, ...organisation } = await createViolations();
  expect((await put({ ...policy, existingTokens: 'keep' })).status).toBe(200);
  await identity.db.query(
    `update token_policies set revoking_version = updated_at - interval '1 second', revoking_by = $2 where org_id = $1`,
    [orgId, organisation.adminId],
  );
  await runJobs();
  expect([await isMarked(), await organisation.countActive()]).toEqual([true, 2 * MEMBERS]);
});
