import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { showStep } from '@platform/config/progress.mjs';
import { EmbeddedServerError, startEmbeddedPostgres } from '@platform/embedded';
import type { Options } from '../options.mjs';
import { clearDataDir } from './data-dir.js';
import { LOCK_NAME } from './instance-lock.js';
import { LaunchError } from './launch-error.js';
import { openLogFile } from './log-file.js';
import type { Teardown } from './teardown.js';

interface DatabaseContext {
  readonly options: Pick<Options, 'dataDir'>;
  readonly teardown: Teardown;
  onCrash(error: LaunchError): void;
}

/**
 * Deletes the database. A server that outlived its launcher still writes to the folder; starting one on it stops the
 * other first.
 */
export async function deleteData(dataDir: string): Promise<void> {
  const postgresDir = join(dataDir, 'postgres');
  if (existsSync(join(postgresDir, 'postmaster.pid'))) {
    const database = await startEmbeddedPostgres({ dataDir: postgresDir }).catch(() => undefined);
    await database?.stop();
  }
  await clearDataDir(dataDir, [LOCK_NAME]);
}

/** Starts the embedded server. @returns the URL of its administrator. */
export async function startDatabase(
  { options, teardown, onCrash }: DatabaseContext,
  logsDir: string,
): Promise<string> {
  return showStep('Starting PostgreSQL', async () => {
    const log = await openLogFile(logsDir, 'postgres');
    teardown.add({
      name: 'log of PostgreSQL',
      stop: () => Promise.resolve(log.close()),
      kill: () => undefined,
    });
    try {
      const database = await startEmbeddedPostgres({
        dataDir: join(options.dataDir, 'postgres'),
        onLog: log.write,
      });
      teardown.add({
        name: 'PostgreSQL',
        stop: () => database.stop(),
        kill: async () => {
          // Immediate shutdown: its processes exit at once, and the next start recovers.
          process.kill(database.pid, 'SIGQUIT');
          await database.exited;
        },
      });
      void database.exited.then(() => {
        onCrash(new LaunchError(`PostgreSQL ended. Its log (${log.path}) ends with:\n${log.tail()}`));
      });
      return database.url();
    } catch (error) {
      if (!(error instanceof EmbeddedServerError)) throw error;
      throw new LaunchError(`${error.message}. Its log is ${log.path}; --database-url names another server.`);
    }
  });
}
