import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../src/index.js';
import { inspectProcess, listChildren, sendSignal, waitForProcessEnd } from '../src/processes.js';

// Runs the built package, because a separate process cannot use Jest's transform.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'start-server.mjs');
const TIMEOUT_MS = 10_000;

const root = await mkdtemp(join(await realpath(tmpdir()), 'embedded-orphan-'));
/** Shared, because initialising one takes a second; each test leaves it without a server. */
const dataDir = join(root, 'data');
let owner: ChildProcess | undefined;

afterEach(() => void owner?.kill('SIGKILL'));
afterAll(() => rm(root, { recursive: true, force: true }));

/** Jest ends a wait that takes too long. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}

function spawnOwner(...args: string[]) {
  const child = spawn(process.execPath, [FIXTURE, dataDir, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  owner = child;
  return child;
}

async function startElsewhere(
  ...args: string[]
): Promise<{ ownerPid: number; serverPid: number; guardPid: number }> {
  const child = spawnOwner(...args);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { pid: serverPid } = JSON.parse(line) as { pid: number };
  const ownerPid = child.pid as number;
  const guardPid = (await listChildren(ownerPid)).find((pid) => pid !== serverPid) as number;
  return { ownerPid, serverPid, guardPid };
}

test('refuses a directory that a running process uses, and leaves its server running', async () => {
  const { ownerPid, serverPid, guardPid } = await startElsewhere();
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`is in use by process ${ownerPid}`);
  await expect(inspectProcess(serverPid)).resolves.toBeDefined();
  sendSignal(ownerPid, 'SIGKILL');
  await waitForProcessEnd(serverPid, TIMEOUT_MS);
  await waitForProcessEnd(guardPid, TIMEOUT_MS);
});

test('the next start stops an orphaned server, suspended or not', async () => {
  const { ownerPid, serverPid, guardPid } = await startElsewhere();
  sendSignal(guardPid, 'SIGKILL');
  await waitForProcessEnd(guardPid, TIMEOUT_MS);
  sendSignal(serverPid, 'SIGSTOP');
  sendSignal(ownerPid, 'SIGKILL');
  await waitForProcessEnd(ownerPid, TIMEOUT_MS);

  const server = await startEmbeddedPostgres({ dataDir });
  await expect(inspectProcess(serverPid)).resolves.toBeUndefined();
  expect(server.pid).not.toBe(serverPid);
  await server.stop();
});

test('the server stops when its owner is killed, and its temporary data is removed', async () => {
  const { ownerPid, serverPid, guardPid } = await startElsewhere('temporary');
  sendSignal(ownerPid, 'SIGKILL');
  await expect(waitForProcessEnd(serverPid, TIMEOUT_MS)).resolves.toBe(true);
  await expect(waitForProcessEnd(guardPid, TIMEOUT_MS)).resolves.toBe(true);
  await expect(stat(dataDir)).rejects.toThrow(/ENOENT/);
});

test('a server that is still starting stops when its owner is killed', async () => {
  const prepared = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  await prepared.stop();
  await writeFile(join(dataDir, 'standby.signal'), '');
  const { pid: ownerPid = 0, stdout } = spawnOwner('standby');
  const lines: string[] = [];
  createInterface({ input: stdout }).on('line', (line) => lines.push(line));
  const lock = join(dataDir, 'postmaster.pid');
  await until(async () => (await readFile(lock, 'utf8').catch(() => '')).includes('standby'));
  await until(async () => (await listChildren(ownerPid)).length === 2);
  const children = await listChildren(ownerPid);
  sendSignal(ownerPid, 'SIGKILL');
  for (const pid of children) await until(async () => (await inspectProcess(pid)) === undefined);
  expect(lines).toEqual([]);
});
