import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { factReportsSql, outboxSql } from '@platform/events';
import { describeDatabase, describePrismaSchema, withAdmin } from '@platform/testing';
import { createCrawlDatabase } from '../support/database.js';

const toPath = (file: string) => fileURLToPath(new URL(`../../prisma/${file}`, import.meta.url));

test('schema.prisma has the tables, columns, types and nullability of the migrated database', async () => {
  const database = await createCrawlDatabase();
  try {
    // BullMQ's own types are no part of it.
    await withAdmin(database.url, (client) => client.query('drop schema bullmq cascade'));
    expect(await describeDatabase(database.url)).toEqual(await describePrismaSchema(toPath('schema.prisma')));
  } finally {
    await database.drop();
  }
});

test('the initial migration holds the tables of packages/events, word for word', async () => {
  const migration = await readFile(toPath('migrations/20261124000000_initial/migration.sql'), 'utf8');
  expect(migration).toContain(outboxSql);
  expect(migration).toContain(factReportsSql);
});
