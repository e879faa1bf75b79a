import { assertMigrated, createLogger, createShutdown, findMigrations } from '@platform/service-kit';
import { loadDatabaseConfig } from './config.js';
import { openResources, type Resources } from './resources.js';

/** Opens the resources that a command needs, and always closes them. */
export async function withResources(
  env: NodeJS.ProcessEnv,
  run: (resources: Resources) => Promise<void>,
): Promise<void> {
  const { DATABASE_URL: databaseUrl, DATABASE_TIMEOUT_MS: timeoutMs } = loadDatabaseConfig(env);
  const log = createLogger('identity', 'warn');
  const shutdown = createShutdown(log);
  const resources = openResources({ databaseUrl, maxConnections: 2, timeoutMs, log, shutdown });
  try {
    await assertMigrated(resources.pool, findMigrations(import.meta.url), log);
    await run(resources);
  } finally {
    await shutdown.run('command done');
  }
}
