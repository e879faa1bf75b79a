import { connectors } from '@platform/events';
import type { ServiceDeps } from '@platform/service-kit';
import type { CrawlConfig } from './config.js';
import { assertQueuesMigrated } from './queue/migrations.js';
import { createQueueBackend, type QueueBackend } from './queue/backend.js';
import { type CrawlQueues, openQueues } from './queue/queues.js';
import type { Resources } from './resources.js';

export interface Queueing {
  readonly queueBackend: QueueBackend;
  readonly queues: CrawlQueues;
}

/** Opens the queues on their backend, and registers their end with the shutdown. */
export async function openQueueing(deps: ServiceDeps<CrawlConfig, Resources>): Promise<Queueing> {
  const { config, resources, shutdown } = deps;
  const { log } = resources;
  if (config.REDIS_URL === undefined) await assertQueuesMigrated(config.DATABASE_URL);
  const queueBackend = createQueueBackend({
    redis:
      config.REDIS_URL === undefined
        ? undefined
        : {
            url: config.REDIS_URL,
            sentinels: config.REDIS_SENTINELS,
            sentinelPassword: config.REDIS_SENTINEL_PASSWORD,
          },
    databaseUrl: config.DATABASE_URL,
    maxWorkers: connectors.length,
    log,
  });
  await queueBackend.connect();
  const queues = openQueues({
    queueBackend,
    concurrency: config.QUEUE_CONCURRENCY,
    log,
  });
  shutdown.on('close', 'queues', async () => {
    await queues.close();
    await queueBackend.close();
  });
  return { queueBackend, queues };
}
