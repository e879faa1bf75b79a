import { describeWith, type OwnRedis, startOwnRedis, waitFor } from '@platform/testing';
import { startAddress } from '../support/address.js';
import { createCrawls } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

/** Makes the one a replica of the other. Its connections stay open. */
async function follow(replica: OwnRedis, master: OwnRedis): Promise<void> {
  await replica.command(`REPLICAOF 127.0.0.1 ${master.port}`);
  const isInSync = async () => (await replica.command('INFO replication')).includes('master_link_status:up');
  await waitFor(isInSync, { what: 'the replica' });
}

describeWith('own-redis', 'a failover of Redis after which the old master answers as a replica', () => {
  let old: OwnRedis;
  let next: OwnRedis;
  let platform: Platform;
  let closers: (() => Promise<unknown>)[];
  beforeEach(async () => {
    [old, next] = await Promise.all([startOwnRedis(), startOwnRedis()]);
    closers = [old.close, next.close];
    await follow(next, old);
  });
  afterEach(async () => {
    await platform.close();
    for (const close of closers.toReversed()) await close();
  });

  /** A run completes only after a job that a worker has got. */
  async function runOnce(): Promise<void> {
    const crawls = createCrawls(() => platform);
    await crawls.run('wiki_1');
    await crawls.outcome('wiki_1', 'completed');
  }

  it('CRAWL-73 has runs start without a restart, where the address leads to the new master, also a moment late', async () => {
    const address = await startAddress(old);
    closers.push(address.close);
    platform = await startPlatform({ backend: 'postgres', env: { REDIS_URL: address.url } });
    await createCrawls(() => platform).schedule('wiki_1');
    await runOnce();
    await next.command('REPLICAOF NO ONE');
    await follow(old, next);
    // What reconnects now comes to the old one again, as with a name that is cached.
    const since = platform.crawl.logged().length;
    await createCrawls(() => platform).run('wiki_1');
    await waitFor(() => platform.crawl.logged().slice(since).includes('READONLY'), { what: 'a refusal' });
    address.leadTo(next);
    await createCrawls(() => platform).outcome('wiki_1', 'completed');
    await runOnce();
    const end = platform.crawl.logged().length;
    await runOnce();
    expect(platform.crawl.logged().slice(end)).not.toContain('READONLY');
  });

  it('CRAWL-74 has runs start without a restart, where Sentinels name the master', async () => {
    const sentinel = await startOwnRedis({ sentinelOf: old });
    closers.push(sentinel.close);
    const knowsReplica = async () =>
      (await sentinel.command('SENTINEL replicas main')).includes(`${next.port}`);
    await waitFor(knowsReplica, { what: 'the Sentinel to know the replica' });
    platform = await startPlatform({
      backend: 'postgres',
      env: { REDIS_URL: 'redis://main/0', REDIS_SENTINELS: `127.0.0.1:${sentinel.port}` },
    });
    await createCrawls(() => platform).schedule('wiki_1');
    await runOnce();
    const failOver = async () => (await sentinel.command('SENTINEL FAILOVER main')) === '+OK';
    await waitFor(failOver, { what: 'the failover' });
    const isMaster = async () => (await next.command('ROLE')).includes('master');
    await waitFor(isMaster, { what: 'the new master' });
    const isReplica = async () => (await old.command('ROLE')).includes('slave');
    await waitFor(isReplica, { what: 'the old master to be a replica' });
    await runOnce();
    const end = platform.crawl.logged().length;
    await runOnce();
    expect(platform.crawl.logged().slice(end)).not.toContain('READONLY');
  });
});
