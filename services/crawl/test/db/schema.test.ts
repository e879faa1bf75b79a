import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, describeDatabase, describePrismaSchema } from '@platform/testing';

const toPath = (file: string) => fileURLToPath(new URL(`../../prisma/${file}`, import.meta.url));
const schemaFile = toPath('schema.prisma');
const migrationsDir = toPath('migrations');

test('schema.prisma has the tables, columns, types and nullability of the migrated database', async () => {
  const database = await createTestDatabase({
    template: 'crawl-rows',
    migrationsDir,
    migrate: (url) => migrate(url, migrationsDir).then(() => undefined),
  });
  try {
    expect(await describeDatabase(database.url)).toEqual(await describePrismaSchema(schemaFile));
  } finally {
    await database.drop();
  }
});
