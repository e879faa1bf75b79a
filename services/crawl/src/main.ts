import { fileURLToPath } from 'node:url';
import { connectors } from '@platform/events';
import {
  assertMigrated,
  createLogger,
  createShutdown,
  serve,
  startTracing,
  systemClock,
} from '@platform/service-kit';
import type { ExitSignals } from '@platform/service-kit/run-main';
import { buildCrawl, openIdentity } from './app.js';
import { loadCrawlConfig } from './config.js';
import { createCrawlMetrics } from './engine/metrics.js';
import { createApplier } from './queue/applier.js';
import { assertQueuesMigrated, createEngine } from './queue/backend.js';
import { openQueues } from './queue/queues.js';
import { openResources } from './resources.js';
import { startWorker } from './worker.js';

const migrationsFolder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** The service, from its configuration to its listener. */
export async function main(signals: ExitSignals): Promise<void> {
  const config = loadCrawlConfig(process.env);
  const tracing = await startTracing('crawl', config);
  const log = createLogger('crawl', config.LOG_LEVEL);
  tracing.reportTo(log);
  const shutdown = createShutdown(log);
  signals.endWith(shutdown, log);
  shutdown.on('close', 'traces', tracing.stop);
  const clock = systemClock;
  const resources = openResources({
    databaseUrl: config.DATABASE_URL,
    maxConnections: config.DATABASE_CONNECTIONS_MAX,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log,
    shutdown,
  });
  await assertMigrated(resources.pool, migrationsFolder, log);
  if (config.REDIS_URL === undefined) await assertQueuesMigrated(config.DATABASE_URL);
  const engine = createEngine({
    redisUrl: config.REDIS_URL,
    databaseUrl: config.DATABASE_URL,
    maxWorkers: connectors.length,
    log,
  });
  const queues = openQueues({
    engine,
    retryDelayMs: config.RETRY_DELAY_MS,
    concurrency: config.QUEUE_CONCURRENCY,
    clock,
    log,
  });
  shutdown.on('close', 'queues', async () => {
    await queues.close();
    await engine.close();
  });
  const identity = openIdentity(config, resources, shutdown, clock);
  const onChange = () => {
    applier.wake();
  };
  const service = await buildCrawl({ config, resources, queues, onChange, identity, shutdown, clock });
  const metrics = createCrawlMetrics(service.metrics);
  const applier = createApplier({ pool: resources.pool, queues, clock, metrics, log });
  applier.start();
  shutdown.on('flush', 'applier of schedules', () => applier.stop());
  if (config.ROLE !== 'api')
    startWorker({
      config,
      resources,
      engine,
      queues,
      applier,
      metrics,
      registry: service.metrics,
      shutdown,
      clock,
    });
  // A worker verifies no request, so it needs no keys.
  if (config.ROLE !== 'worker') await identity.start();
  await serve({
    ...service,
    host: config.HOST,
    port: config.PORT,
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
    shutdown,
  });
  log.info({ address: service.app.server.address(), role: config.ROLE }, 'crawl is ready');
}
