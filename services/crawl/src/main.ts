import { openIdentityClient } from '@platform/auth';
import { connectors } from '@platform/events';
import { defineService, type ServiceApp, type ServiceDeps } from '@platform/service-kit';
import { buildCrawl } from './app.js';
import { type CrawlConfig, loadCrawlConfig } from './config.js';
import { assertQueuesMigrated, createQueueBackend } from './queue/backend.js';
import { openQueues } from './queue/queues.js';
import { openResources, type Resources } from './resources.js';
import { startWorkers } from './workers.js';

type Deps = ServiceDeps<CrawlConfig, Resources>;

async function startQueues({ config, resources, shutdown, clock }: Deps) {
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
  return { queueBackend, queues };
}

/** Builds the API, the worker or both, depending on the role. */
async function build(deps: Deps): Promise<ServiceApp> {
  const queueing = await startQueues(deps);
  const identity = openIdentityClient({ ...deps, log: deps.resources.log });
  const onChange = () => {
    applier.wake();
  };
  const service = await buildCrawl({ ...deps, ...queueing, onChange, identity });
  const applier = startWorkers({ ...deps, ...queueing, registry: service.metrics });
  // A worker verifies no request, so it needs no keys.
  if (deps.config.ROLE !== 'worker') await identity.start();
  return service;
}

export const main = defineService({
  name: 'crawl',
  program: import.meta.url,
  loadConfig: loadCrawlConfig,
  openResources,
  build,
});
