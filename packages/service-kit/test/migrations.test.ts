import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@platform/testing';
import pg from 'pg';
import { assertMigrated, migrate, MigrationError } from '../src/index.js';

let folder: string;
let database: TestDatabase;
let pool: pg.Pool;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await write('1_first', 'create table first (id int)');
  database = await createTestDatabase({ template: 'empty', migrationsDir: join(__dirname, 'fixtures'), migrate: async () => undefined });
  pool = new pg.Pool({ connectionString: database.url });
}); // prettier-ignore
afterEach(async () => {
  await pool.end();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'migration.sql'), sql);
}
const run = () => migrate(database.url, folder);
const tables = async () => {
  const { rows } = await pool.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' order by 1`,
  );
  return rows.map(({ tablename }) => tablename);
};

test('migrations are applied in order, once, and only what is new afterwards', async () => {
  await write('2_second', 'alter table first add name text');
  expect(await run()).toEqual(['1_first', '2_second']);
  expect(await run()).toEqual([]);
  await write('3_third', 'create table third (id int)');
  await expect(assertMigrated(pool, folder)).rejects.toThrow('lacks the migration 3_third');
  expect(await run()).toEqual(['3_third']);
  await assertMigrated(pool, folder);
  const { rows } = await pool.query(
    'select migration_name, length(checksum) as length, finished_at is not null as done, applied_steps_count as steps from _prisma_migrations order by 1',
  );
  expect(rows).toEqual(
    ['1_first', '2_second', '3_third'].map((name) => ({ migration_name: name, length: 64, done: true, steps: 1 })),
  );
}); // prettier-ignore

test('five that migrate at once apply each migration once', async () => {
  await write('2_second', 'create table second (id int); select pg_sleep(0.1)');
  const applied = await Promise.all(Array.from({ length: 5 }, run));
  expect(applied.flat().toSorted()).toEqual(['1_first', '2_second']);
  expect(await tables()).toEqual(['_prisma_migrations', 'first', 'second']);
});

test('a failure half-way leaves nothing of its migration, says why, and the next try works', async () => {
  await write('2_second', 'create table second (id int); insert into nowhere values (1)');
  await expect(run()).rejects.toThrow(/^The migration 2_second failed and was rolled back: .*nowhere/);
  await expect(run()).rejects.toThrow(MigrationError);
  expect(await tables()).toEqual(['_prisma_migrations', 'first']);
  await write('2_second', 'create table second (id int)');
  expect(await run()).toEqual(['2_second']);
});

test('a newer database and a changed migration are refused, and nothing is applied', async () => {
  await run();
  await write('2_second', 'create table second (id int)');
  await write('1_first', 'create table first (id bigint)');
  await expect(run()).rejects.toThrow('The migration 1_first was changed after it had been applied');
  await expect(assertMigrated(pool, folder)).rejects.toThrow(MigrationError);
  await rm(join(folder, '1_first'), { recursive: true });
  await expect(run()).rejects.toThrow(
    'The database is newer than this program: it has the migration 1_first',
  );
  await expect(assertMigrated(pool, folder)).rejects.toThrow(MigrationError);
  expect(await tables()).not.toContain('second');
});

test('a database that was never migrated is told so', async () => {
  await expect(assertMigrated(pool, folder)).rejects.toThrow('lacks the migration 1_first. Run the command "migrate"');
}); // prettier-ignore
