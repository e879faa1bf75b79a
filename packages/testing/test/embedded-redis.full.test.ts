import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../src/index.js';
import { ensureRedisServer, inspectProcess, startEmbeddedRedis } from '@platform/embedded';

function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    socket.setEncoding('utf8').once('data', (answer) => {
      socket.destroy();
      resolve(String(answer).trim());
    });
    socket.once('error', reject);
  });
}

describeWith('own-redis', 'embedded Redis', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(await realpath(tmpdir()), 'embedded-redis-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test('keeps its data and port over a kill, and loses the data in a flush', async () => {
    const redis = await startEmbeddedRedis({ dataDir: root });
    await expect(ask(redis.port, 'SET kept 7')).resolves.toBe('+OK');
    await redis.kill();
    await expect(ask(redis.port, 'PING')).rejects.toThrow(/ECONNREFUSED/);
    await redis.start();
    await expect(ask(redis.port, 'EXISTS kept')).resolves.toBe(':1');
    await redis.flush();
    await expect(ask(redis.port, 'EXISTS kept')).resolves.toBe(':0');
    await redis.close();
  });

  test('requires its password, which no command line shows', async () => {
    const redis = await startEmbeddedRedis({ dataDir: root, password: 'kept4us' });
    expect(redis.url).toBe(`redis://:kept4us@127.0.0.1:${redis.port}`);
    await expect(ask(redis.port, 'PING')).resolves.toMatch(/^-NOAUTH/);
    await expect(redis.flush()).resolves.toBeUndefined();
    expect((await inspectProcess(redis.pid))?.command).not.toContain('kept4us');
    await redis.close();
  });

  test('separates the data of each kind and major version of the server', async () => {
    const program = await ensureRedisServer();
    const { PATH } = process.env;
    /** Starts the same server, which reports another version. */
    async function startAs(version: string) {
      const bin = join(root, version.replaceAll(' ', '-'));
      await mkdir(bin, { recursive: true });
      const script = `#!/bin/sh\n[ "$1" = --version ] && echo '${version} sha=0' && exit\nexec '${program}' "$@"\n`;
      await writeFile(join(bin, 'redis-server'), script, { mode: 0o755 });
      process.env['PATH'] = `${bin}:${PATH}`;
      return startEmbeddedRedis({ dataDir: join(root, 'data') }).finally(() => (process.env['PATH'] = PATH));
    }
    const found: Record<string, string> = {};
    for (const version of [
      'Redis server v=7.0.15',
      'Valkey server v=9.1.2',
      'Redis server v=8.2.1',
      'Redis server v=7.4.0',
    ]) {
      const redis = await startAs(version);
      found[version] = await ask(redis.port, 'EXISTS kept');
      await ask(redis.port, 'SET kept 7');
      await redis.stop();
    }
    expect(Object.values(found)).toEqual([':0', ':0', ':0', ':1']);
  });

  test('explains a taken port with Redis’ own message', async () => {
    const redis = await startEmbeddedRedis({ dataDir: join(root, 'one') });
    const second = startEmbeddedRedis({ dataDir: join(root, 'two'), port: redis.port });
    await expect(second).rejects.toThrow(/Redis does not start: .*in use/i);
    await redis.close();
  });
});
