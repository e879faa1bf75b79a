import { fileURLToPath } from 'node:url';
import { connectors } from '@platform/events';
import { createLogger, migrate } from '@platform/service-kit';
import { createTestDatabase, startOwnRedis, waitFor } from '@platform/testing';
import { migrateQueues } from '../../src/queue/migrations.js';
import { createQueueBackend } from '../../src/queue/backend.js';
import { openQueues } from '../../src/queue/queues.js';
import type { Backend } from './platform.js';

/* The queues of crawl on a backend and a database of the test's own, without the service. */

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** The connector of the schedules and jobs of these tests. */
export const connector = 'files_1';

export interface TestQueuesOptions {
  readonly concurrency?: number;
}

export type TestQueues = Awaited<ReturnType<typeof openTestQueues>>;

/** Resolves once the backend is reachable. */
export async function openTestQueues(backend: Backend, { concurrency = 5 }: TestQueuesOptions = {}) {
  const log = createLogger('test', 'silent');
  const database = await createTestDatabase({
    template: 'crawl-queues',
    migrationsDir,
    migrate: async (url) => {
      await migrate(url, migrationsDir);
      await migrateQueues(url);
    },
  });
  const redis = backend === 'redis' ? await startOwnRedis() : undefined;
  const location = { redisUrl: redis?.url, databaseUrl: database.url };
  const queueBackend = createQueueBackend({ ...location, maxWorkers: connectors.length, log });
  const queues = openQueues({ queueBackend, concurrency, log });
  // prettier-ignore
  await waitFor(() => queueBackend.ping().then(() => true, () => false), { what: 'the backend' });
  return {
    location,
    queueBackend,
    queues,
    async close(): Promise<void> {
      await queues.close();
      await queueBackend.close();
      await redis?.close();
      await database.drop();
    },
  };
}
