import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { callUrl, describeWith, type OwnRedis, startOwnRedis } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';

describeWith('own-redis', 'a start with --redis-url', () => {
  let redis: OwnRedis;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let platform: Platform;
  beforeAll(async () => {
    [redis, dataDir] = await Promise.all([startOwnRedis(), makeDataDir()]);
    platform = await startPlatform({ dataDir: dataDir.path, args: ['--redis-url', redis.url] });
    await platform.settled;
  });
  afterAll(async () => {
    platform.child.kill('SIGTERM');
    await platform.exited;
    await Promise.all([redis.close(), dataDir.remove()]);
  });

  it('OPS-9 starts without a warning in the logs', async () => {
    for (const name of ['identity', 'mail', 'crawl']) {
      const lines = (await readFile(join(dataDir.path, 'logs', `${name}.log`), 'utf8')).split('\n');
      expect(lines.join()).toContain(`${name} is ready`);
      expect(lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))).toEqual([]);
    }
  });

  it('keeps the queues there', async () => {
    const base = `http://127.0.0.1:${platform.port}/api/v1`;
    const login = await callUrl(`${base}/auth/login`, 'POST', {
      body: { email: printed(platform, 'Admin'), password: printed(platform, 'Password') },
    });
    const token = login.body.accessToken as string;
    const scheduleConfig = { scheduleType: 'custom', cronExpression: '0 4 * * *', timezone: 'UTC' };
    const schedule = { token, body: { scheduleConfig } };
    expect((await callUrl(`${base}/crawlingManager/wiki_1/schedule`, 'POST', schedule)).status).toBe(201);
    const run = { token, body: {} };
    expect((await callUrl(`${base}/crawlingManager/wiki_1/run`, 'POST', run)).status).toBe(202);
    const port = Number(new URL(redis.url).port);
    await until(async () => /crawl-wiki\S*:(?:completed|events)/.test(await findKeys(port)));
  });
});

/** Returns everything that Redis answers to `KEYS` within a moment. */
function findKeys(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end('KEYS *crawl-wiki*\r\n'));
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.once('end', () => resolve(answer));
    socket.once('error', reject);
  });
}
