import { connectors } from '@platform/events';
import { defineService, type ServiceApp, type ServiceDeps } from '@platform/service-kit';
import { buildCrawl, openIdentity } from './app.js';
import { type CrawlConfig, loadCrawlConfig } from './config.js';
import { createCrawlMetrics } from './engine/metrics.js';
import { createApplier } from './queue/applier.js';
import { assertQueuesMigrated, createQueueBackend } from './queue/backend.js';
import { openQueues } from './queue/queues.js';
import { openResources, type Resources } from './resources.js';
import { startWorker } from './worker.js';

/** Builds the API, the worker or both, depending on the role. */
async function build(deps: ServiceDeps<CrawlConfig, Resources>): Promise<ServiceApp> {
  const { config, resources, shutdown, clock } = deps;
  const { log } = resources;
  if (config.REDIS_URL === undefined) await assertQueuesMigrated(config.DATABASE_URL);
  const queueBackend = createQueueBackend({
    redisUrl: config.REDIS_URL,
    databaseUrl: config.DATABASE_URL,
    maxWorkers: connectors.length,
    log,
  });
  const queues = openQueues({
    queueBackend,
    retryDelayMs: config.RETRY_DELAY_MS,
    concurrency: config.QUEUE_CONCURRENCY,
    clock,
    log,
  });
  shutdown.on('close', 'queues', async () => {
    await queues.close();
    await queueBackend.close();
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
      queueBackend,
      queues,
      applier,
      metrics,
      registry: service.metrics,
      shutdown,
      clock,
    });
  // A worker verifies no request, so it needs no keys.
  if (config.ROLE !== 'worker') await identity.start();
  return service;
}

export const main = defineService({
  name: 'crawl',
  program: import.meta.url,
  loadConfig: loadCrawlConfig,
  openResources,
  build,
});
