import { waitFor } from '@platform/testing';
import { startPlatform } from '../sign-in/account-flows/platform.js';
import type { Member } from '../identity.js';
import type { Process } from '../process/process.js';
import { insertToken, killReplica, readDigests, startReplica as startProcess } from './notices.js';

const replicas: Process[] = [];

const platform = await startPlatform();
afterEach(async () => {
  await Promise.all(replicas.splice(0).map(killReplica));
});
afterAll(() => platform.close());

async function startReplica(): Promise<Process> {
  const replica = await startProcess(platform);
  replicas.push(replica);
  return replica;
}

test('each person gets one mail although the sending replica is killed before a commit and in it', async () => {
  const members: Member[] = [];
  for (let count = 0; count < 12; count += 1)
    members.push(await platform.identity.createMember(platform.session));
  for (const { id } of members)
    for (const name of ['a', 'b', 'c']) await insertToken(platform, name, 6.5, { ownerId: id });
  const countDone = async () =>
    (
      await platform.identity.db.query('select from token_digests where holder_id = any($1)', [
        members.map(({ id }) => id),
      ])
    ).rowCount ?? 0;
  // Digests beyond the limit wait, at their beginning or in their commit, so that the replica dies in the middle of one.
  await platform.identity.db.query(`
    create table digest_limit (count integer, in_commit boolean);
    insert into digest_limit values (0, false);
    create function limit_digests() returns trigger language plpgsql as $$ begin
      while (select in_commit = (tg_when = 'AFTER') from digest_limit)
        and (select count(*) from token_digests where holder_id <> new.holder_id) >= (select count from digest_limit)
      loop perform pg_sleep(0.02); end loop;
      return new;
    end $$;
    create trigger limit_digests before insert on token_digests for each row execute function limit_digests();
    create constraint trigger limit_commits after insert on token_digests deferrable initially deferred
      for each row execute function limit_digests()`);
  const before = await platform.identity.db.query('select from token_digests');
  const setLimit = (count: number, inCommit = false) =>
    platform.identity.db.query('update digest_limit set count = $1, in_commit = $2', [
      (before.rowCount ?? 0) + count,
      inCommit,
    ]);
  const waitingCommits = `from pg_stat_activity
    where datname = current_database() and state = 'active' and lower(query) = 'commit'`;
  const waitForDigests = (count: number) =>
    waitFor(async () => (await countDone()) === count, { what: `${count} digests` });
  /** Starts a replica, and kills it in the digest after the first `count` ones. */
  const killAfter = async (count: number, inCommit: boolean) => {
    await setLimit(count, inCommit);
    const replica = await startReplica();
    await waitForDigests(count);
    if (inCommit)
      await waitFor(async () => (await platform.identity.db.query(`select ${waitingCommits}`)).rowCount, {
        what: 'a commit that waits',
      });
    await killReplica(replica);
  };
  try {
    await killAfter(2, false);
    // The database loses the transaction, as when it dies with the replica: a mail that was stored would be sent twice.
    await killAfter(5, true);
    const lost = await platform.identity.db.query(`select pg_terminate_backend(pid) ${waitingCommits}`);
    // After a minute, the service of this process has a waiting commit, too.
    expect(lost.rowCount).toBeGreaterThan(0);
    // The database commits without the replica: a mail that was not yet stored would be lost.
    await killAfter(8, true);
    await setLimit(9, true);
    await waitForDigests(9);
    await setLimit(members.length);
    await Promise.all([startReplica(), startReplica()]);
    await waitForDigests(members.length);
    // The leases of mails that a killed replica was sending expire.
    platform.identity.advance(31_000);
    await platform.drained();
    expect(members.map(({ email }) => readDigests(platform, email))).toEqual(
      members.map(() => ['3 access tokens expire soon']),
    );
  } finally {
    await platform.identity.db.query('drop function limit_digests cascade');
  }
});
