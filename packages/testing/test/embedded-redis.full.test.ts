import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../src/index.js';
import { ensureRedisServer, startEmbeddedRedis } from '@platform/embedded';

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

/**
 * Writes a program that can be run at once. It is written by another process: while this one has the file open, a process that
 * another worker starts inherits it, and until that one has begun, the program is busy (ETXTBSY).
 */
const writeProgram = (file: string, text: string): void =>
  void execFileSync('/bin/sh', ['-c', 'printf %s "$2" >"$1" && chmod 755 "$1"', 'sh', file, text]);

describeWith('own-redis', 'embedded Redis', () => {
  test('separates the data of each kind and major version of the server', async () => {
    const root = await mkdtemp(join(await realpath(tmpdir()), 'embedded-redis-'));
    const program = await ensureRedisServer();
    const { PATH } = process.env;
    /** Starts the same server, which reports another version. */
    async function startAs(version: string) {
      const bin = join(root, version.replaceAll(' ', '-'));
      await mkdir(bin, { recursive: true });
      const script = `#!/bin/sh\n[ "$1" = --version ] && echo '${version} sha=0' && exit\nexec '${program}' "$@"\n`;
      writeProgram(join(bin, 'redis-server'), script);
      process.env['PATH'] = `${bin}:${PATH}`;
      return startEmbeddedRedis({ dataDir: join(root, 'data') }).finally(() => (process.env['PATH'] = PATH));
    }
    const found: string[] = [];
    for (const version of [
      'Redis server v=7.0.15',
      'Valkey server v=9.1.2',
      'Redis server v=8.2.1',
      'Redis server v=7.4.0',
    ]) {
      const redis = await startAs(version);
      found.push(await ask(redis.port, 'EXISTS kept'));
      await ask(redis.port, 'SET kept 7');
      await redis.stop();
    }
    await rm(root, { recursive: true });
    expect(found).toEqual([':0', ':0', ':0', ':1']);
  });
});
