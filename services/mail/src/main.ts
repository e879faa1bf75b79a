import { fileURLToPath } from 'node:url';
import {
  assertMigrated,
  createLogger,
  createShutdown,
  serve,
  startTracing,
  systemClock,
} from '@platform/service-kit';
import type { ExitSignals } from '@platform/service-kit/run-main';
import { buildMail } from './app.js';
import { loadMailConfig } from './config.js';
import { openResources } from './resources.js';

const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Starts the service: reads the configuration, opens the resources, checks the migrations and listens. */
export async function main(signals: ExitSignals): Promise<void> {
  const config = loadMailConfig(process.env);
  const tracing = await startTracing('mail', config);
  const log = createLogger('mail', config.LOG_LEVEL);
  tracing.reportTo(log);
  const shutdown = createShutdown(log);
  signals.endWith(shutdown, log);
  shutdown.on('close', 'traces', tracing.stop);
  const resources = openResources({
    databaseUrl: config.DATABASE_URL,
    maxConnections: config.DATABASE_CONNECTIONS_MAX,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log,
    shutdown,
  });
  await assertMigrated(resources.pool, migrationsFolder, log);
  const service = await buildMail({ config, resources, shutdown, clock: systemClock });
  await serve({
    ...service,
    host: config.HOST,
    port: config.PORT,
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
    shutdown,
  });
  log.info({ address: service.app.server.address() }, 'mail is ready');
}
