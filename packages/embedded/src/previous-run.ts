import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './errors.js';
import { inspectProcess, sendSignal, waitForProcessEnd } from './processes.js';

const OWNER_FILE = 'platform-owner.pid';

/** Notes which process starts the server, so that a later one can tell an orphan from a server in use. */
export async function recordOwner(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`, { mode: 0o600 });
}

/**
 * Stops a server that outlived the process which had started it (kill -9, power of the terminal).
 *
 * The pid in postmaster.pid may meanwhile be anybody's, so only a process whose command line is PostgreSQL on
 * this very directory counts. Its parent changes when the owner dies; while it is still the noted owner, the
 * directory is in use and nothing is stopped.
 */
export async function stopPreviousRun(dataDir: string): Promise<void> {
  const pid = await readPid(join(dataDir, 'postmaster.pid'));
  const server = pid === undefined ? undefined : await inspectProcess(pid);
  if (!server || !isServerOn(server.command, dataDir)) return;
  const owner = await readPid(join(dataDir, OWNER_FILE));
  // Both questions: a dying owner is still the parent for a moment, and a pid is used again.
  if (owner === server.parentPid && (await inspectProcess(owner))) {
    throw new EmbeddedPostgresError(
      `the database in ${dataDir} is in use by process ${owner}; stop that first`,
    );
  }
  // SIGCONT: a suspended server could not act on the others. SIGQUIT leaves recovery to the next start.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    sendSignal(server.pid, signal);
    sendSignal(server.pid, 'SIGCONT');
    if (await waitForProcessEnd(server.pid, 10_000)) return;
  }
  throw new EmbeddedPostgresError(
    `a previous PostgreSQL (process ${server.pid}) on ${dataDir} does not stop`,
  );
}

function isServerOn(command: string, dataDir: string): boolean {
  return /(^|\/)postgres /.test(command) && `${command} `.includes(` -D ${dataDir} `);
}

async function readPid(file: string): Promise<number | undefined> {
  const content = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(content, 10);
  return pid > 0 ? pid : undefined;
}
