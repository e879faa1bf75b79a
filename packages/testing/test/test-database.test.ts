import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../src/index.js';
import { readAdminUrl } from '../src/environment.js';

const migrationsDir = join(import.meta.dirname, 'migrations');
// One template per run of this file, also on a server that outlives it.
const template = `probe_${Date.now()}`;
let migrations = 0;

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function migrate(url: string): Promise<void> {
  migrations++;
  await query(url, await readFile(join(migrationsDir, '1_first', 'migration.sql'), 'utf8'));
}

const create = (): Promise<TestDatabase> => createTestDatabase({ template, migrationsDir, migrate });

afterAll(async () => {
  const names = await query(
    readAdminUrl(),
    `select datname from pg_database where datname like '%${template}%'`,
  );
  for (const { datname } of names as { datname: string }[]) {
    await query(readAdminUrl(), `drop database "${datname}" with (force)`);
  }
});

test('a migration that fails leaves no template, and the next one builds it', async () => {
  const failing = createTestDatabase({
    template,
    migrationsDir,
    migrate: () => Promise.reject(new Error('broken migration')),
  });
  await expect(failing).rejects.toThrow('broken migration');
  const database = await create();
  await expect(query(database.url, 'select * from item')).resolves.toEqual([]);
});

test('databases created at the same time are separate clones of a template that is built once', async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, create));
  await Promise.all(databases.map(({ url }, id) => query(url, `insert into item values (${id}, 'x')`)));
  const contents = await Promise.all(databases.map(({ url }) => query(url, 'select id from item')));
  expect(contents).toEqual(databases.map((_, id) => [{ id }]));
  expect(migrations).toBe(1);
  await Promise.all(databases.map((database) => database.drop()));
});

test('drop removes the database despite open connections, and can be called again', async () => {
  const database = await create();
  const client = new pg.Client({ connectionString: database.url });
  const isClosed = new Promise<void>((resolve) => client.on('error', () => resolve()));
  await client.connect();
  await database.drop();
  await isClosed;
  await database.drop();
  await expect(query(database.url, 'select 1')).rejects.toThrow(/does not exist/);
});
