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
import { buildIdentity } from './app.js';
import { type IdentityConfig, loadIdentityConfig } from './config.js';
import { createOrganisationService } from './features/organisations/service.js';
import { createPasswords } from './features/sessions/passwords.js';
import { openResources, type Resources } from './resources.js';

const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/**
 * Creates the organisation and its administrator on the first start. Once there is an organisation, the BOOTSTRAP_
 * variables have no effect.
 */
async function bootstrap(config: IdentityConfig, { prisma, log }: Resources): Promise<void> {
  const organisations = createOrganisationService({
    prisma,
    passwords: createPasswords(),
    clock: systemClock,
  });
  if (!(await organisations.isEmpty())) return;
  const { BOOTSTRAP_ADMIN_EMAIL: adminEmail, BOOTSTRAP_ADMIN_PASSWORD: adminPassword } = config;
  if (adminEmail === undefined || adminPassword === undefined) {
    log.warn(
      'there is no organisation yet: set BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD, or run create-organisation',
    );
    return;
  }
  if (await organisations.bootstrap({ name: config.BOOTSTRAP_ORG_NAME, adminEmail, adminPassword }))
    log.info('created the first organisation');
}

/** Starts the service: loads the configuration, opens the resources and listens. */
export async function main(signals: ExitSignals): Promise<void> {
  const config = loadIdentityConfig(process.env);
  const tracing = await startTracing('identity', config);
  const log = createLogger('identity', config.LOG_LEVEL);
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
  await bootstrap(config, resources);
  const service = await buildIdentity({ config, resources, shutdown, clock: systemClock });
  await serve({
    ...service,
    host: config.HOST,
    port: config.PORT,
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
    shutdown,
  });
  log.info({ address: service.app.server.address() }, 'identity is ready');
}
