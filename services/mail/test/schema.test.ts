import { fileURLToPath } from 'node:url';
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
