import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServerError } from './errors.js';
import type { UnprivilegedRunner } from './unprivileged.js';

const run = promisify(execFile);

/** The only user of a fresh cluster. */
export const SUPERUSER = 'postgres';

/** The file with the superuser's password, which also marks a directory as created by this module. */
const PASSWORD_FILE = 'platform-superuser-password';

interface ClusterOptions {
  readonly dataDir: string;
  readonly initdb: string;
  readonly runner: UnprivilegedRunner;
  /** Whether to wait until everything is on the disk; tests do not. */
  readonly isDurable: boolean;
}

/**
 * Makes sure that `dataDir` is a cluster, and returns the superuser's password.
 *
 * A cluster is created beside `dataDir` and renamed in the last step, so that `dataDir` is always complete. Remains of a
 * crash are removed. A directory with foreign content is refused and not changed.
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { dataDir } = options;
  const entries = await readdir(dataDir).catch(ignoreMissing);
  if (entries?.includes(PASSWORD_FILE)) {
    await options.runner.own(dataDir);
    return readFile(join(dataDir, PASSWORD_FILE), 'utf8');
  }
  if (entries && entries.length > 0) {
    throw new EmbeddedServerError(`${dataDir} is not empty and no database made here; name another folder`);
  }
  return makeCluster(options);
}

async function makeCluster({ dataDir, initdb, runner, isDurable }: ClusterOptions): Promise<string> {
  const parent = dirname(dataDir);
  const prefix = `${basename(dataDir)}.initialising-`;
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, force: true });
  }
  const work = await mkdtemp(join(parent, prefix));
  try {
    const cluster = join(work, 'cluster');
    const passwordFile = join(work, PASSWORD_FILE);
    const password = randomBytes(24).toString('base64url');
    await mkdir(cluster, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    await runner.own(work);
    await runInitdb([...runner.prefix, initdb], cluster, passwordFile, isDurable);
    await rename(passwordFile, join(cluster, PASSWORD_FILE));
    await rename(cluster, dataDir);
    return password;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function runInitdb(
  program: string[],
  cluster: string,
  passwordFile: string,
  isDurable: boolean,
): Promise<void> {
  const [command = '', ...args] = program;
  // The builtin locale sorts alike on every machine and survives an upgrade of the C library.
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  const access = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const sync = isDurable ? [] : ['--no-sync'];
  await run(command, [...args, '-D', cluster, ...access, ...locale, ...sync]).catch(
    (cause: Error & { stderr?: string }) => {
      const reason = cause.stderr?.trim().split('\n')[0] || cause.message;
      throw new EmbeddedServerError(`PostgreSQL can't initialise its folder: ${reason}`, { cause });
    },
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
