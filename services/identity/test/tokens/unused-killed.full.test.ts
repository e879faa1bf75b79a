import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { checkUse } from '../../src/tokens/watch/unused/unused.sql.js';
import { encryptionKeys, type IdentityUnderTest, PATIENT, startIdentity } from '../identity.js';
import { type Process, startServer } from '../process/process.js';
import { createOrganisation, createReplicas } from './organisation.js';

const TOKENS = 8;
let identity: IdentityUnderTest;
let running: Process | undefined;

beforeAll(async () => {
  // Its own jobs don't run: there is no mail service.
  identity = await startIdentity();
  await identity.db.query(`
    create table budget (count integer);
    insert into budget values (0);
    create function wait_for_budget() returns trigger language plpgsql as $$ begin
      while (select count from budget) <= (select count(*) from token_digests) +
        (select count(*) from audit_entries where reason = 'unused') loop perform pg_sleep(0.02); end loop;
      return new;
    end $$;
    create trigger wait_for_budget before insert on token_digests for each row execute function wait_for_budget();
    create trigger wait_for_budget before insert on audit_entries for each row when (new.reason = 'unused')
      execute function wait_for_budget()`);
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.exit;
});
afterAll(() => identity.close());

async function startReplica(): Promise<Process> {
  running = await startServer({
    ...PATIENT,
    DATABASE_URL: identity.databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    HOST: '127.0.0.1',
    PORT: '0',
    MAIL_URL: 'http://127.0.0.1:9',
  });
  return running;
}

const count = async (from: string, orgId: string): Promise<number> =>
  (await identity.db.query<{ count: number }>(`select count(*)::int as count from ${from}`, [orgId])).rows[0]
    ?.count ?? 0;
const digests = 'token_digests where holder_id in (select id from users where org_id = $1)';
const entries = `audit_entries where org_id = $1 and action = 'token.revoked' and reason = 'unused'`;

/** Kills a replica in the middle of the work, then lets two others finish it. */
async function workWhileKilled(countDone: () => Promise<number>): Promise<void> {
  const { rows } = await identity.db.query<{ count: number }>('select count from budget');
  const before = rows[0]?.count ?? 0;
  const setBudget = (budget: number) => identity.db.query('update budget set count = $1', [before + budget]);
  await setBudget(3);
  // A replica whose first run fails on a busy machine would run again after a minute: another one takes its place.
  const isReached = async (): Promise<boolean> => (await countDone()) === 3;
  while (!(await isReached())) {
    const { child, exit } = await startReplica();
    await waitFor(isReached, { what: 'three steps' }).catch(() => undefined);
    child.kill('SIGKILL');
    await exit;
  }
  expect(await countDone()).toBe(3);
  await setBudget(TOKENS);
  const { runAfter } = createReplicas(identity);
  await waitFor(
    async () => {
      await runAfter(0);
      return (await countDone()) === TOKENS;
    },
    { what: 'all steps' },
  );
}

test('each token is warned about once and revoked once, although a replica is killed in between', async () => {
  const { orgId, session, insertToken, put, findRevoked } = await createOrganisation(identity);
  const owners: string[] = [];
  for (let index = 0; index < TOKENS; index += 1) owners.push((await identity.createMember(session)).id);
  for (const [index, ownerId] of owners.entries())
    await insertToken(`unused ${String(index).padStart(2, '0')}`, { ownerId });
  expect((await put({})).status).toBe(200);
  // As a replica with a mail service saves it.
  await identity.db.query('update token_policies set revoke_unused_days = 30 where org_id = $1', [orgId]);

  // Otherwise the warnings wait for the second run of a replica.
  expect(await checkUse(identity.db, new Date(), 500)).toBe(TOKENS);
  await workWhileKilled(() => count(digests, orgId));
  const mailed = await identity.db.query<{ user_id: string }>(
    `select user_id from outgoing_mails where kind = 'token_expiring'`,
  );
  expect(mailed.rows.map(({ user_id: id }) => id).toSorted()).toEqual(owners.toSorted());
  expect(await findRevoked()).toEqual([]);

  await identity.db.query('update unused_tokens set warned_at = $1', [new Date(Date.now() - 7.1 * DAY_MS)]);
  await workWhileKilled(() => count(entries, orgId));
  expect(await findRevoked()).toHaveLength(TOKENS);
  const notified = await identity.db.query<{ user_id: string }>(
    `select user_id from outgoing_mails where kind = 'token_alert'`,
  );
  expect(notified.rows.map(({ user_id: id }) => id).toSorted()).toEqual(owners.toSorted());
  expect(await count('unused_tokens where $1::text is not null', orgId)).toBe(0);
  expect(await count(entries, orgId)).toBe(TOKENS);
});
