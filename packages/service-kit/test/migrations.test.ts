import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { assertMigrated, migrate, MigrationError } from '../src/index.js';

let folder: string;
let database: TestDatabase;
let pool: pg.Pool;

// oxfmt-ignore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await write('1_first', 'create table first (id int)');
  database = await createTestDatabase({ template: 'empty', migrationsDir: join(import.meta.dirname, 'fixtures'), migrate: async () => undefined });
  pool = new pg.Pool({ connectionString: database.url });
});
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

// oxfmt-ignore
test('applies migrations in order and once, and later only new ones', async () => {
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
});

test('applies each migration once when five processes migrate at the same time', async () => {
  await write('2_second', 'create table second (id int); select pg_sleep(0.1)');
  const applied = await Promise.all(Array.from({ length: 5 }, run));
  expect(applied.flat().toSorted()).toEqual(['1_first', '2_second']);
  expect(await tables()).toEqual(['_migration_compatibility', '_prisma_migrations', 'first', 'second']);
});

test('says once that it waits for another migration', async () => {
  const lock = await pool.connect();
  await lock.query('select pg_advisory_lock(72707369)');
  const warnings: unknown[] = [];
  const warned = new Promise<void>((resolve) => {
    void migrate(database.url, folder, {
      warn: (message: unknown) => {
        warnings.push(message);
        resolve();
      },
    }).then(() => warnings.push('migrated'));
  });
  await warned;
  // The lock is polled several times in the meantime.
  await pool.query('select pg_sleep(1)');
  await lock.query('select pg_advisory_unlock(72707369)');
  lock.release();
  await waitFor(() => warnings.length > 1, { what: 'the migration' });
  expect(warnings).toEqual([
    'another migration of this database is running: waiting for it to end',
    'migrated',
  ]);
});

test('rolls a failed migration back, reports why, and applies it at the next attempt', async () => {
  await write('2_second', 'create table second (id int); insert into nowhere values (1)');
  await expect(run()).rejects.toThrow(/^The migration 2_second failed and was rolled back: .*nowhere/);
  await expect(run()).rejects.toThrow(MigrationError);
  expect(await tables()).toEqual(['_migration_compatibility', '_prisma_migrations', 'first']);
  await write('2_second', 'create table second (id int)');
  expect(await run()).toEqual(['2_second']);
});

test('refuses a newer database and a changed migration, and applies nothing', async () => {
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

test('an older program runs on a newer schema that is compatible with it, and on no other', async () => {
  await write('2_second', '-- compatible-with: 1_first\ncreate table second (id int)');
  expect(await run()).toEqual(['1_first', '2_second']);
  await rm(join(folder, '2_second'), { recursive: true });
  await assertMigrated(pool, folder);
  expect(await run()).toEqual([]);
  // It has to know the third, and the third says nothing of older programs.
  await write('2_second', '-- compatible-with: 1_first\ncreate table second (id int)');
  await write('3_third', 'create table third (id int)');
  await write('4_fourth', '-- compatible-with: 3_third\ncreate table fourth (id int)');
  expect(await run()).toEqual(['3_third', '4_fourth']);
  for (const name of ['4_fourth', '3_third']) await rm(join(folder, name), { recursive: true });
  await expect(assertMigrated(pool, folder)).rejects.toThrow(
    'The database is newer than this program: it has the migration 3_third',
  );
});

test('a migration is compatible only with an existing one', async () => {
  await write('2_second', '-- compatible-with: 1_frist\ncreate table second (id int)');
  await expect(run()).rejects.toThrow('The migration 2_second is compatible with 1_frist, which is missing');
});

// oxfmt-ignore
test('reports a database that was never migrated', async () => {
  await expect(assertMigrated(pool, folder)).rejects.toThrow('lacks the migration 1_first. Run the command "migrate"');
});

/** Opens a transaction that has read the table and stays open. */
async function openReader(): Promise<pg.PoolClient> {
  const reader = await pool.connect();
  await reader.query('begin');
  await reader.query('select from first');
  return reader;
}
const waitingForLock = () =>
  waitFor(
    async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rowCount === 1;
    },
    { what: 'a migration that waits for a lock' },
  );

test('lets others use a table while a migration waits for it, and applies it once the table is free', async () => {
  await run();
  await write('2_second', 'alter table first add name text');
  const reader = await openReader();
  const warnings: unknown[] = [];
  const migrated = migrate(database.url, folder, { warn: (details: unknown) => void warnings.push(details) });
  await waitingForLock();
  // This statement queues behind the migration, and runs although the reader's transaction is still open.
  await pool.query('select from first');
  await waitFor(() => warnings.length > 0, { what: 'a second try' });
  expect(warnings[0]).toEqual({ migration: '2_second' });
  await reader.query('commit');
  reader.release();
  expect(await migrated).toEqual(['2_second']);
  await assertMigrated(pool, folder);
});

test('fails a migration whose table stays in use, and leaves nothing of it behind', async () => {
  await run();
  await write('2_second', 'create table second (id int); alter table first add name text');
  const reader = await openReader();
  const migrated = migrate(database.url, folder, undefined, { lockTimeoutMs: 50, totalMs: 1_000 });
  await expect(migrated).rejects.toThrow(
    /^The migration 2_second failed and was rolled back: .*lock timeout/,
  );
  reader.release(true);
  expect(await tables()).toEqual(['_migration_compatibility', '_prisma_migrations', 'first']);
  expect(await run()).toEqual(['2_second']);
});

const concurrentIndex = `-- Reads and writes go on meanwhile.
create unique index concurrently "first_id" on first (id) where id > 0;
`;
const indexes = async () => {
  const { rows } = await pool.query(
    `select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid
     where indrelid = 'first'::regclass`,
  );
  return rows as unknown;
};

test('creates an index concurrently, outside a transaction, in one of five processes that migrate at once', async () => {
  await run();
  await write('2_index', concurrentIndex);
  const applied = await Promise.all(Array.from({ length: 5 }, run));
  expect(applied.flat()).toEqual(['2_index']);
  expect(await indexes()).toEqual([{ name: 'first_id', valid: true }]);
  await assertMigrated(pool, folder);
});

test('rebuilds an index that could not be built, and keeps an index that was built but not recorded', async () => {
  await run();
  await write('2_index', concurrentIndex);
  await pool.query('insert into first values (1), (1)');
  await expect(run()).rejects.toThrow(
    /^The migration 2_index failed and can be run again: .*could not create unique index/,
  );
  expect(await indexes()).toEqual([{ name: 'first_id', valid: false }]);
  await expect(assertMigrated(pool, folder)).rejects.toThrow('lacks the migration 2_index');
  await pool.query('delete from first');
  expect(await run()).toEqual(['2_index']);
  expect(await indexes()).toEqual([{ name: 'first_id', valid: true }]);
  await pool.query(`delete from _prisma_migrations where migration_name = '2_index'`);
  expect(await run()).toEqual(['2_index']);
  expect(await run()).toEqual([]);
});

test('refuses to build an index concurrently in a migration that does more than that', async () => {
  await run();
  await write('2_index', `${concurrentIndex} create table second (id int);`);
  await expect(run()).rejects.toThrow('cannot run inside a transaction block');
  expect(await tables()).toEqual(['_migration_compatibility', '_prisma_migrations', 'first']);
});
