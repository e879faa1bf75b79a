import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { inspectProcess, listChildren } from '@platform/embedded';
import { callUrl, describeWith } from '@platform/testing';
import { living, makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';

describeWith('own-redis', 'a start with --redis', () => {
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let platform: Platform;
  beforeAll(async () => {
    dataDir = await makeDataDir();
    platform = await startPlatform({ dataDir: dataDir.path, args: ['--redis'] });
    await platform.settled;
  });
  afterAll(async () => {
    platform.child.kill('SIGTERM');
    await platform.exited;
    await dataDir.remove();
  });

  async function readConfiguration(): Promise<{ port: number; password: string }> {
    const file = join(dataDir.path, 'redis', 'redis.conf');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [, port, password = ''] =
      /^port (\d+)$[^]*^requirepass (\w+)$/m.exec(await readFile(file, 'utf8')) ?? [];
    return { port: Number(port), password };
  }

  it('keeps the queues in a Redis that requires a password, which only its owner can read', async () => {
    const base = `http://127.0.0.1:${platform.port}/api/v1`;
    const email = printed(platform, 'Admin');
    const login = await callUrl(`${base}/auth/login`, 'POST', {
      body: { email, password: printed(platform, 'Password') },
    });
    const token = login.body.accessToken as string;
    const scheduleConfig = { scheduleType: 'custom', cronExpression: '0 4 * * *', timezone: 'UTC' };
    const created = await callUrl(`${base}/crawlingManager/wiki_1/schedule`, 'POST', {
      token,
      body: { scheduleConfig },
    });
    expect(created.status).toBe(201);
    const requested = await callUrl(`${base}/crawlingManager/wiki_1/run`, 'POST', { token, body: {} });
    expect(requested.status).toBe(202);

    const { port, password } = await readConfiguration();
    expect(await ask(port, 'DBSIZE')).toMatch(/^-NOAUTH/);
    await until(async () => {
      const keys = await ask(port, `AUTH ${password}`, 'KEYS *crawl-wiki*');
      return /crawl-wiki\S*:(?:completed|events)/.test(keys);
    });
  });

  it('ends with one line and exit code 1 when its Redis crashes', async () => {
    const pids = await platform.descendants();
    const children = await Promise.all(
      (await listChildren(platform.child.pid as number)).map(inspectProcess),
    );
    const redis = children.find((child) => /(redis|valkey)-server /.test(child?.command ?? ''));
    expect(redis?.command).not.toContain((await readConfiguration()).password);
    process.kill(redis?.pid as number, 'SIGKILL');
    expect(await platform.exited).toBe(1);
    expect(platform.output()).toContain('Redis ended. Its log');
    await until(() => living(pids).length === 0);
  });
});

/** Sends lines to Redis, and returns everything that it answers within a moment. */
function ask(port: number, ...lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end([...lines, ''].join('\r\n')));
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.once('end', () => resolve(answer));
    socket.once('error', reject);
  });
}
