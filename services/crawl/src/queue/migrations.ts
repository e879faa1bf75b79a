import { isDatabaseUnavailable, MigrationError } from '@platform/service-kit';
import { assertSchemaCompatibility, DEFAULT_SCHEMA, runMigrations } from 'bullmq';
import pg from 'pg';

/** @throws MigrationError when BullMQ's own schema is older or newer than this program's. */
export async function assertQueuesMigrated(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await assertSchemaCompatibility(client, DEFAULT_SCHEMA);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    throw new MigrationError(
      `The queue's schema does not fit: run the command "migrate" of this service first.`,
      {
        cause: error,
      },
    );
  } finally {
    await client.end();
  }
}

/** Creates or updates BullMQ's own schema, which is not used with Redis. */
export async function migrateQueues(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await runMigrations(client, DEFAULT_SCHEMA);
  } finally {
    await client.end();
  }
}
