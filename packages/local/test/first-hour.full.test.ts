import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { describeWith } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform } from './platform.js';

/*
 * The first hour of a programmer: the packed clients of both languages in an empty folder, against the platform, and
 * against a server that fails as the platform cannot be made to fail. Both programs must see the same.
 */

const ROOT = resolve(import.meta.dirname, '../../..');
const PROGRAMS = join(import.meta.dirname, 'fixtures/first-hour');
const START_MS = 240_000;
const MAX_BROWSER_BYTES = 60_000;
const run = promisify(execFile);

describeWith('openapi-tools', 'the first hour of a programmer', () => {
  let folder: string;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let platform: Platform;
  let closedPort: number;
  /** How often each path of the server of faults was asked for. */
  const counts = new Map<string, number>();
  /** The requests to a platform that answers what no document says. */
  const requested = new Set<string>();

  /** Lets the platform answer, and the client have no answer the first time. */
  async function passOn(request: IncomingMessage, response: ServerResponse, path: string, isLost: boolean) {
    const sent = ['authorization', 'content-type', 'idempotency-key'].flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    const body = await text(request);
    const passed = await fetch(`http://127.0.0.1:${platform.port}${path}`, {
      method: request.method ?? 'GET',
      headers: sent,
      ...(body !== '' && { body }),
    });
    const answered = await passed.text();
    if (isLost) request.socket.destroy();
    else response.writeHead(passed.status, { 'content-type': 'application/json' }).end(answered);
  }
  const faults = createServer((request, response) => {
    const [, kind = '', path = ''] = /^\/([\w-]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (kind === 'newer') requested.add(`${request.method} ${path.split('?')[0]}`);
    const error = JSON.stringify({ error: { code: 'RATE_LIMITED', message: 'Slow down' } });
    if (kind === 'hangup') request.socket.destroy();
    else if (kind === 'limited') response.writeHead(429, { 'retry-after': '90', 'x-request-id': 'r' }).end(error);
    else if (kind === 'page') response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
    else if (kind === 'nonsense') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    else if (kind === 'newer')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"newer":"value"}');
    else if (kind.startsWith('busy')) {
      if (count < 3) response.writeHead(count === 1 ? 429 : 503, { 'retry-after': '1' }).end();
      else void passOn(request, response, path, false);
    } else if (kind.startsWith('lost')) void passOn(request, response, path, count === 1);
  }); // oxfmt-ignore

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-first-hour-'));
    dataDir = await makeDataDir();
    closedPort = await findFreePort();
    platform = await startPlatform({ dataDir: dataDir.path });
    await new Promise<void>((listening) => faults.listen(0, '127.0.0.1', listening));
    const options = ['--rehearsal', '--without-images', '--images', 'ghcr.io/acme'];
    const output = join(folder, 'release');
    await run(process.execPath, ['packages/release/release.mjs', '0.1.0', ...options, '--output', output], {
      cwd: ROOT,
    });
    await platform.settled;
  }, START_MS);
  afterAll(async () => {
    faults.closeAllConnections();
    faults.close();
    platform.child.kill('SIGTERM');
    await platform.exited;
    await dataDir.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const getEnv = () => ({
    PATH: process.env['PATH'],
    CLOSED_URL: `http://127.0.0.1:${closedPort}`,
    PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
    FAULTS_URL: `http://127.0.0.1:${(faults.address() as AddressInfo).port}`,
    EMAIL: printed(platform, 'Admin'),
    PASSWORD: printed(platform, 'Password'),
  });

  async function execute(command: string, args: readonly string[], cwd: string): Promise<string> {
    const { stdout } = await run(command, args, { cwd, env: getEnv() }).catch((error: unknown) => {
      const said = error as { stdout: string; stderr: string };
      throw new Error(`${command} failed:\n${(said.stdout + said.stderr).slice(-8_000)}`);
    });
    return stdout;
  }

  // oxfmt-ignore
  const seen = [
    ['listed', ['1', '2', '3']],
    ['found its token', true],
    ['a run', 'completed'],
    ['a run', 'aborted'],
    // Kind, outcome, status, code, seconds to wait, whether there is a request id, the fields of the details.
    ['refused', 'not_done', 401, 'UNAUTHORIZED', null, true, []],
    ['refused', 'not_done', 403, 'INSUFFICIENT_SCOPE', null, true, []],
    ['refused', 'not_done', 404, 'NOT_FOUND', null, true, []],
    ['refused', 'not_done', 400, 'VALIDATION_ERROR', null, true, ['priority']],
    ['refused', 'not_done', 400, 'VALIDATION_ERROR', null, true, ['name', 'name']],
    ['busy', 'not_done', 429, 'RATE_LIMITED', 90, true, []],
    ['failed', 'unknown', 502, null, null, false, []],
    ['disconnected', 'unknown', null, null, null, false, []],
    ['timeout', 'unknown', null, null, null, false, []],
    ['invalid_response', 'not_done', 200, null, null, false, []],
    ['unreachable', 'not_done', null, null, null, false, []],
    ['a mistake', true, false],
    ['a mistake', true, false],
    ['a mistake', true, false],
    ['retried', true],
    ['created once', true, 4],
    ['at once', 60],
  ];
  const toFacts = (output: string) =>
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);

  test('in TypeScript, compiled strictly, as an ES module, from CommonJS and in the bundle of a browser', async () => {
    const project = join(folder, randomUUID());
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    await cp(join(PROGRAMS, 'program.ts.txt'), join(project, 'program.ts'));
    const tarball = join(folder, 'release/npm/platform-clients-0.1.0.tgz');
    const install = ['install', '--no-audit', '--no-fund', tarball, 'typescript@5.9.3', '@types/node@20'];
    await execute('npm', install, project);
    const compile = '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --module nodenext --target es2023';
    await execute('npx', ['tsc', ...compile.split(' '), 'program.ts'], project);
    expect(toFacts(await execute(process.execPath, ['program.js'], project))).toEqual(seen);

    const require = "console.log(typeof require('@platform/clients').createPlatformClient)";
    await writeFile(join(project, 'program.cjs'), require);
    expect(await execute(process.execPath, ['program.cjs'], project)).toBe('function\n');

    const page = "import { createPlatformClient } from '@platform/clients'; globalThis.create = createPlatformClient;";
    await writeFile(join(project, 'page.js'), page);
    const esbuild = join(ROOT, 'packages/release/node_modules/.bin/esbuild');
    await execute(esbuild, ['page.js', '--bundle', '--platform=browser', '--outfile=bundle.js'], project);
    expect((await stat(join(project, 'bundle.js'))).size).toBeLessThan(MAX_BROWSER_BYTES);
  }); // oxfmt-ignore

  test('API-20 in Python, checked strictly, with every operation of a newer platform', async () => {
    const project = join(folder, randomUUID());
    await mkdir(project);
    await cp(join(PROGRAMS, 'program.py'), join(project, 'program.py'));
    await execute('python3', ['-m', 'venv', 'venv'], project);
    const python = join(project, 'venv/bin/python');
    const [wheel = ''] = await readdir(join(folder, 'release/python'));
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await execute(python, [...pip, join(folder, 'release/python', wheel), 'mypy==2.4.1'], project);
    await execute(python, ['-m', 'mypy', '--strict', 'program.py'], project);
    expect(toFacts(await execute(python, ['program.py'], project))).toEqual(seen);

    const operations: string[] = [];
    for (const service of ['identity', 'mail', 'crawl']) {
      const document = await readFile(join(ROOT, 'services', service, 'openapi.json'), 'utf8');
      for (const [path, item] of Object.entries((JSON.parse(document) as { paths: object }).paths))
        for (const method of Object.keys(item as object))
          operations.push(`${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`);
    }
    await cp(join(PROGRAMS, 'every_operation.py'), join(project, 'every_operation.py'));
    const count = await execute(python, ['every_operation.py'], project);
    expect([Number(count), [...requested].toSorted()]).toEqual([operations.length, operations.toSorted()]);
  });
});
