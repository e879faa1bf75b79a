import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, ENCRYPTION_KEYS, SERVICE_SECRET, waitFor } from '@platform/testing';
import { startAddress } from '../support/address.js';
import { type Platform, startPlatform } from '../support/platform.js';

const program = fileURLToPath(new URL('../../dist/server.js', import.meta.url));

describeWith('own-redis', 'a Redis with which the queues cannot work', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'redis', env: { LOG_LEVEL: 'info' } });
  });
  afterAll(() => platform.close());

  const getRedis = () => platform.redis as NonNullable<Platform['redis']>;
  const isQueueUp = async () =>
    /^platform_crawl_queue_up\{.*\} 1$/m.test(await (await fetch(`${platform.crawl.url}/metrics`)).text());

  it.each([
    ['its version', /redis_version:\d/g, 'redis_version:4', /REDIS_URL leads to a server of version 4\./],
    ['a Cluster', /redis_mode:standalone/g, 'redis_mode:cluster   ', /REDIS_URL leads to a Redis Cluster/],
  ])('CRAWL-75 ends the start with one line about %s', async (_what, from, to, wanted) => {
    const address = await startAddress(getRedis(), (answer) => answer.replace(from, to));
    try {
      const env = {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_URL: platform.databaseUrl,
        IDENTITY_URL: platform.identityUrl,
        SERVICE_CLIENT_SECRET: SERVICE_SECRET,
        ENCRYPTION_KEYS,
        REDIS_URL: address.url,
      };
      const run = promisify(execFile)(process.execPath, [program], { env });
      const { code, stdout, stderr } = await run.then(
        (output) => ({ code: 0, ...output }),
        (error: unknown) => error as { code: number; stdout: string; stderr: string },
      );
      expect(code).toBe(1);
      // On a busy machine the first connection may time out. The next one ends the process, which logs why.
      const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => wanted.test(line));
      expect(lines).toHaveLength(1);
    } finally {
      await address.close();
    }
  });

  it('CRAWL-76 logs one line about a Redis that evicts keys, and none of another form', async () => {
    await getRedis().command('CONFIG SET maxmemory-policy allkeys-lru');
    const replica = await platform.addProcess();
    await replica.stop();
    await getRedis().command('CONFIG SET maxmemory-policy noeviction');
    const lines = replica.logged().trim().split('\n');
    expect(lines.filter((line) => line.includes('noeviction'))).toHaveLength(1);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  });

  it.each([
    ['is full', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
    [
      'wants a replica for each write',
      'CONFIG SET min-replicas-to-write 1',
      'CONFIG SET min-replicas-to-write 0',
    ],
    ['is a replica', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
  ])('CRAWL-77 the metric says that the queue takes no jobs while Redis %s', async (_state, begin, end) => {
    expect(await isQueueUp()).toBe(true);
    await getRedis().command(begin);
    try {
      await waitFor(async () => !(await isQueueUp()), { what: 'the metric to be 0' });
      expect(await getRedis().command('PING')).toBe('+PONG');
    } finally {
      await getRedis().command(end);
    }
    await waitFor(isQueueUp, { what: 'the metric to be 1' });
  });
});
