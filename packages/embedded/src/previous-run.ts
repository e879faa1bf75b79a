import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedServerError } from './errors.js';
import { inspectProcess, sendSignal, waitForProcessEnd } from './processes.js';

const OWNER_FILE = 'platform-owner.pid';

/** Records which process starts the server, so that a later start can distinguish an orphan from a server in use. */
export async function recordOwner(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`, { mode: 0o600 });
}

/**
 * Stops a server that outlived the process which had started it (kill -9, power of the terminal).
 *
 * Another process may have the pid in postmaster.pid by now, so only a process whose command line is PostgreSQL on this
 * directory counts. Its parent changes when the owner dies. While the parent is still the recorded owner, the directory
 * is in use and nothing is stopped.
 */
export async function stopPreviousRun(dataDir: string): Promise<void> {
  const pid = await readPid(join(dataDir, 'postmaster.pid'));
  const server = pid === undefined ? undefined : await inspectProcess(pid);
  if (!server || !isServerOn(server.command, dataDir)) return;
  const owner = await readPid(join(dataDir, OWNER_FILE));
  // Both checks are needed: a dying owner remains the parent for a moment, and pids are reused.
  if (owner === server.parentPid && (await inspectProcess(owner))) {
    throw new EmbeddedServerError(
      `the database in ${dataDir} is in use by process ${owner}; stop that first`,
    );
  }
  // SIGCONT: a suspended server could not act on the others. SIGQUIT leaves recovery to the next start.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    sendSignal(server.pid, signal);
    sendSignal(server.pid, 'SIGCONT');
    if (await waitForProcessEnd(server.pid, 10_000)) return;
  }
  throw new EmbeddedServerError(`a previous PostgreSQL (process ${server.pid}) on ${dataDir} does not stop`);
}

function isServerOn(command: string, dataDir: string): boolean {
  return /(^|\/)postgres /.test(command) && `${command} `.includes(` -D ${dataDir} `);
}

async function readPid(file: string): Promise<number | undefined> {
  const content = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(content, 10);
  return pid > 0 ? pid : undefined;
}
