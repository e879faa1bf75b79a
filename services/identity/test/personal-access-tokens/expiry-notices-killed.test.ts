import { waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../account-flows/platform.js';
import type { Member } from '../identity.js';
import type { Process } from '../process/process.js';
import { insertToken, killReplica, readDigests, startReplica as startProcess } from './notices.js';

let platform: Platform;
const replicas: Process[] = [];

beforeAll(async () => {
  platform = await startPlatform();
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map(killReplica));
});
afterAll(() => platform.close());

async function startReplica(): Promise<Process> {
  const replica = await startProcess(platform);
  replicas.push(replica);
  return replica;
}

test('each person gets one mail although the sending replica is killed again and again', async () => {
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
  // Digests beyond the limit wait, so that the replica dies in the middle of one.
  await platform.identity.db.query(`
    create table digest_limit (count integer);
    insert into digest_limit values (0);
    create function limit_digests() returns trigger language plpgsql as $$ begin
      while (select count(*) from token_digests) >= (select count from digest_limit) loop perform pg_sleep(0.02); end loop;
      return new;
    end $$;
    create trigger limit_digests before insert on token_digests for each row execute function limit_digests()`);
  const before = await platform.identity.db.query('select from token_digests');
  const setLimit = (count: number) =>
    platform.identity.db.query('update digest_limit set count = $1', [(before.rowCount ?? 0) + count]);
  try {
    for (const limit of [2, 5]) {
      await setLimit(limit);
      const replica = await startReplica();
      await waitFor(async () => (await countDone()) === limit, {
        what: `${limit} digests`,
      });
      await killReplica(replica);
    }
    expect(await countDone()).toBe(5);
    await setLimit(members.length);
    await Promise.all([startReplica(), startReplica()]);
    await waitFor(async () => (await countDone()) === members.length, {
      what: 'all digests',
    });
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
