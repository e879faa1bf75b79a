import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { callUrl, waitFor } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform } from './platform.js';

/*
 * What a release consists of: made twice, installed in empty projects from the made files, and the program of each README
 * run against the platform.
 */

const ROOT = resolve(import.meta.dirname, '../../..');
const CRAWL = '/api/v1/crawlingManager';
const START_MS = 240_000;
const run = promisify(execFile);

let folder: string;
let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
let platform: Platform;
let session: string;
const programs: ChildProcess[] = [];

const release = (...args: readonly string[]) =>
  run(process.execPath, ['packages/release/release.mjs', ...args], { cwd: ROOT });
const call = (method: string, path: string, body?: object) =>
  callUrl(`http://127.0.0.1:${platform.port}${path}`, method, { token: session, ...(body && { body }) });

async function createToken(scopes: readonly string[]): Promise<string> {
  const { body } = await call('POST', '/api/v1/personal-access-tokens', { name: 'a program', scopes });
  return body.token.accessToken as string;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-release-'));
  dataDir = await makeDataDir();
  platform = await startPlatform({ dataDir: dataDir.path });
  await release('0.1.0', '--rehearsal', '--output', join(folder, 'one'));
  await platform.settled;
  const admin = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
  session = (await call('POST', '/api/v1/auth/login', admin)).body.accessToken;
}, START_MS);
afterEach(() => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
});
afterAll(async () => {
  platform.child.kill('SIGTERM');
  await platform.exited;
  await dataDir.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Installs a package in an empty project, and writes the program of its README there. */
async function install(name: string): Promise<string> {
  const project = join(folder, name);
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const tarball = join(folder, 'one', 'npm', `platform-${name}-0.1.0.tgz`);
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: project });
  const readme = await readFile(join(project, 'node_modules/@platform', name, 'README.md'), 'utf8');
  await writeFile(join(project, 'main.mjs'), /```js\n(.*?)```/s.exec(readme)?.[1] ?? '');
  return project;
}

/** Starts the program in its project. */
function start(project: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['main.mjs'], {
    cwd: project,
    env: { PATH: process.env['PATH'], PLATFORM_URL: `http://127.0.0.1:${platform.port}`, ...env },
  });
  programs.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return { child, output: () => output };
}

test('the same commit gives the same bytes, which the checksums describe', async () => {
  await release('0.1.0', '--rehearsal', '--output', join(folder, 'two'));
  const read = (name: string) => readFile(join(folder, name, 'SHA256SUMS'), 'utf8');
  expect(await read('two')).toBe(await read('one'));
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'one') });
  const files = await readdir(join(folder, 'one'), { recursive: true, withFileTypes: true });
  const described = (await read('one')).trim().split('\n');
  expect(described).toHaveLength(files.filter((file) => file.isFile()).length - 1);
});

test('a version that no package.json names, or none, is refused with what to do', async () => {
  await expect(release('9.9.9', '--output', join(folder, 'none'))).rejects.toThrow(
    /--rehearsal|Set the version/,
  );
  await expect(release('latest')).rejects.toThrow('A version such as 0.1.0 is missing');
  await expect(release('0.1.0', '--rehearsal', '--output', ROOT)).rejects.toThrow('other than a release');
});

test('the clients show who a token acts as, and its schedules', async () => {
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  await call('POST', `${CRAWL}/wiki_1/schedule`, { scheduleConfig, worker: 'pull' });
  const project = await install('clients');
  const good = start(project, { PLATFORM_TOKEN: await createToken(['user:read', 'crawl:read']) });
  await waitFor(() => good.child.exitCode !== null, { what: 'the end of the program' });
  expect(good.output()).toMatch(/^acting as admin@example\.com\ncrawl-wiki_1: next run \d{4}-/);
  const bad = start(project, { PLATFORM_TOKEN: 'x' });
  await waitFor(() => bad.child.exitCode !== null, { what: 'the end of the program' });
  expect([bad.child.exitCode, bad.output()]).toEqual([1, expect.stringContaining('(refused)')]);
});

test('the worker kit crawls a folder until it is stopped', async () => {
  const texts = join(folder, 'texts');
  await mkdir(texts);
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(texts, name), 'hello');
  const project = await install('crawl-worker');
  const worker = start(project, { PLATFORM_TOKEN: await createToken(['crawl:work']), FOLDER: texts });
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  await call('POST', `${CRAWL}/files_1/schedule`, { scheduleConfig, worker: 'pull' });
  const { runId } = (await call('POST', `${CRAWL}/files_1/run`)).body.data;
  const isCompleted = async () =>
    (await call('GET', `${CRAWL}/files_1/runs/${runId}`)).body.data.outcome === 'completed';
  await waitFor(isCompleted, { what: 'the run' });
  expect(worker.output()).toBe('index a.txt\nindex b.txt\n');
  worker.child.kill('SIGTERM');
  await waitFor(() => worker.child.exitCode !== null, { what: 'the end of the worker' });
  expect(worker.child.exitCode).toBe(0);
});
