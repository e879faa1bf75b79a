import { execFile } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedServerError } from './errors.js';

const run = promisify(execFile);

/** The user `nobody`: initdb needs a user with a name, and this one exists on every Linux. */
const NOBODY = 65_534;

/** A way to run PostgreSQL, which refuses to run as root, from this process. */
export interface UnprivilegedRunner {
  /** The command and arguments that precede the program. Each command uses exec, so the pid stays the same. */
  readonly prefix: readonly string[];
  /** Makes the user that the program runs as the owner of a path. */
  own(path: string): Promise<void>;
}

/**
 * Chooses how PostgreSQL can run on a data directory.
 *
 * An ordinary user runs it directly. For root, a user namespace is the first choice: the program sees itself as
 * another user while its files still belong to root, so it also works below a directory that only root may enter.
 * Where namespaces are forbidden (most containers), or the directory belongs to another user, it runs as that user
 * (or `nobody`) with the one capability that lets it pass through such directories.
 */
export async function chooseRunner(dataDir: string): Promise<UnprivilegedRunner> {
  if (process.geteuid?.() !== 0) return { prefix: [], own: () => Promise.resolve() };
  const owner = await stat(dataDir).then(
    ({ uid }) => uid,
    () => 0,
  );
  const inNamespace = ['unshare', '--user', `--map-user=${NOBODY}`, '--'];
  if (owner === 0 && (await works(inNamespace))) return { prefix: inNamespace, own: () => Promise.resolve() };
  const uid = owner === 0 ? NOBODY : owner;
  const identity = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const asUser = [...identity, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--'];
  if (await works(asUser)) return { prefix: asUser, own: (path) => giveTo(path, uid) };
  throw new EmbeddedServerError(
    'PostgreSQL refuses to run as root, and neither unshare nor setpriv (util-linux) can run it as somebody ' +
      'else here; use an ordinary user, or give the URL of a server',
  );
}

async function works(prefix: readonly string[]): Promise<boolean> {
  const [command = '', ...args] = prefix;
  return run(command, [...args, 'true']).then(
    () => true,
    () => false,
  );
}

async function giveTo(path: string, uid: number): Promise<void> {
  if ((await stat(path)).uid === uid) return;
  await chown(path, uid, uid);
  await run('chown', ['-R', `${uid}:${uid}`, path]);
}
