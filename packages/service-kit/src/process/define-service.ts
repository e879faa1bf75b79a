import type pg from 'pg';
import { type Clock, systemClock } from '../clock.js';
import type { serviceVariables } from '../config/service-variables.js';
import type { Values } from '../config/config.js';
import { assertMigrated, findMigrations } from '../data/migrations.js';
import { assertRestoreComplete } from '../data/pending-restore.js';
import type { ServiceApp } from '../http/app.js';
import { createLogger, type Logger } from '../telemetry/logging.js';
import { startTracing } from '../telemetry/tracing/start.js';
import type { ExitSignals } from './exit-signals.js';
import { serve } from './serve.js';
import { createShutdown, type Shutdown } from '../shutdown.js';

/** The variables that the start of a service reads. */
type StartConfig = Values<typeof serviceVariables> & {
  readonly DATABASE_URL: string;
  readonly DATABASE_CONNECTIONS_MAX: number;
};

/** The options with which a service opens its connections. */
export interface ResourceOptions {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** The time limit of a query. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}

/** The parts from which a service is built. */
export interface ServiceDeps<Config, Resources> {
  readonly config: Config;
  readonly resources: Resources;
  readonly shutdown: Shutdown;
  readonly clock: Clock;
}

export interface ServiceDefinition<Config, Resources> {
  readonly name: string;
  /** The `import.meta.url` of the program, whose folder is next to the folder `prisma`. */
  readonly program: string;
  readonly loadConfig: (env: NodeJS.ProcessEnv) => Config;
  readonly openResources: (options: ResourceOptions) => Resources;
  /** Called when all migrations are applied. It starts the background work too, and registers its end with the shutdown. */
  readonly build: (deps: ServiceDeps<Config, Resources>) => Promise<ServiceApp>;
}

/** @returns the main function of a service, which reads the configuration, opens the resources and listens. */
export const defineService =
  <Config extends StartConfig, Resources extends { readonly pool: pg.Pool }>(
    definition: ServiceDefinition<Config, Resources>,
  ) =>
  async (signals: ExitSignals): Promise<void> => {
    const { name } = definition;
    const config = definition.loadConfig(process.env);
    const tracing = await startTracing(name, config);
    const log = createLogger(name, config.LOG_LEVEL);
    tracing.reportTo(log);
    const shutdown = createShutdown(log);
    signals.endWith(shutdown, log);
    shutdown.on('close', 'traces', tracing.stop);
    const resources = definition.openResources({
      databaseUrl: config.DATABASE_URL,
      maxConnections: config.DATABASE_CONNECTIONS_MAX,
      timeoutMs: config.DATABASE_TIMEOUT_MS,
      log,
      shutdown,
    });
    await assertMigrated(resources.pool, findMigrations(definition.program), log);
    await assertRestoreComplete(resources.pool);
    const service = await definition.build({ config, resources, shutdown, clock: systemClock });
    await serve({
      ...service,
      host: config.HOST,
      port: config.PORT,
      shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
      shutdown,
    });
    log.info({ address: service.app.server.address() }, `${name} is ready`);
  };
