import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { factReportsSql } from '@platform/events/facts';
import { describeDatabase, describePrismaSchema } from '@platform/testing';
import { createMailDatabase } from './mail.js';

const schemaFile = fileURLToPath(new URL('../prisma/schema.prisma', import.meta.url));

test('schema.prisma has the tables, columns, types and nullability of the migrated database', async () => {
  const database = await createMailDatabase();
  try {
    expect(await describeDatabase(database.url)).toEqual(await describePrismaSchema(schemaFile));
  } finally {
    await database.drop();
  }
});

test('the initial migration holds the table of facts of packages/events, word for word', async () => {
  const path = new URL('../prisma/migrations/20261124000000_initial/migration.sql', import.meta.url);
  expect(await readFile(path, 'utf8')).toContain(factReportsSql);
});
