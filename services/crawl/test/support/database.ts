import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, type TestDatabase } from '@platform/testing';
import { migrateQueues } from '../../src/queue/migrations.js';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/**
 * Creates a migrated database, which can hold the queues, too.
 *
 * @param adminUrl - the server of the test's own.
 */
export const createCrawlDatabase = (adminUrl?: string): Promise<TestDatabase> =>
  createTestDatabase({
    template: 'crawl',
    migrationsDir,
    migrate: async (url) => {
      await migrate(url, migrationsDir);
      await migrateQueues(url);
    },
    ...(adminUrl !== undefined && { adminUrl }),
  });
