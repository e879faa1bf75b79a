import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, type TestDatabase, withAdmin } from '@platform/testing';
import type pg from 'pg';
import { type Databases, forEachService, getMigrations, type ServiceName } from '../platform/platform.js';

/** The rows of a platform at one moment. */
export interface PlatformState {
  readonly takenAt: string;
  readonly databases: Readonly<Record<ServiceName, DatabaseState>>;
}

interface DatabaseState {
  /** The applied migrations. */
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[];
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  /** The last value of each sequence that was used. */
  readonly sequences: Readonly<Record<string, string>>;
}

type Row = Readonly<Record<string, unknown>>;

const readDatabase = (url: string): Promise<DatabaseState> =>
  withAdmin(url, async (client) => {
    const read = async <Found extends pg.QueryResultRow>(sql: string) =>
      (await client.query<Found>(sql)).rows;
    // Times are written in the zone of the session.
    await client.query(`set timezone to 'UTC'`);
    const migrations = await read<{ name: string; checksum: string }>(
      'select migration_name as name, checksum from _prisma_migrations order by 1',
    );
    const tables = await read<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('public', 'outbox') and tablename not like '\\_%' order by 1`,
    );
    const filled: Record<string, readonly Row[]> = {};
    for (const { name } of tables) {
      const rows = await read<{ row: Row }>(
        `select row_to_json(rows) as row from ${name} rows order by to_jsonb(rows)`,
      );
      if (rows.length > 0) filled[name] = rows.map(({ row }) => row);
    }
    const sequences = await read<{ name: string; last: string }>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
       where schemaname in ('public', 'outbox') and last_value is not null order by 1`,
    );
    return {
      migrations,
      tables: filled,
      sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
    };
  });

/** Reads all rows of the services. None of them runs in the meantime. */
export const readState = async (databases: Databases): Promise<PlatformState> => ({
  takenAt: new Date().toISOString(),
  databases: await forEachService((name) => readDatabase(databases[name].url)),
});

/** Counts the rows of the tables that the state has rows of. */
export const countRows = (url: string, { tables }: DatabaseState): Promise<Record<string, number>> =>
  withAdmin(url, async (client) => {
    const counts: Record<string, number> = {};
    for (const table of Object.keys(tables))
      counts[table] = (await client.query(`select from ${table}`)).rowCount ?? 0;
    return counts;
  });

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(\+00:00|Z)$/;
/** The claims of tokens that are seconds since 1970. */
const SECONDS = new Set(['exp', 'iat', 'iiat', 'authTime']);

/** Moves every time in a value by some seconds. */
function postpone(value: unknown, seconds: number): unknown {
  if (typeof value === 'string') {
    const [, date, fraction = '', zone] = TIME.exec(value) ?? [];
    if (date === undefined) return value;
    const moved = new Date(Date.parse(`${date}Z`) + seconds * 1_000).toISOString().slice(0, date.length);
    return moved + fraction + zone;
  }
  if (Array.isArray(value)) return value.map((item) => postpone(item, seconds));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECONDS.has(key) && typeof item === 'number' ? item + seconds : postpone(item, seconds),
    ]),
  );
}

/** Creates a database with the schema and the rows of the state. */
async function restoreDatabase(
  service: ServiceName,
  { migrations, tables, sequences }: DatabaseState,
  ageSeconds: number,
): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-migrations-'));
  const database = await createTestDatabase({
    template: 'empty',
    migrationsDir: folder,
    migrate: async () => undefined,
  });
  for (const { name } of migrations)
    await cp(join(getMigrations(service), name), join(folder, name), { recursive: true });
  await migrate(database.url, folder);
  await rm(folder, { recursive: true });
  await withAdmin(database.url, async (client) => {
    // A migration that was edited since is refused later, as by an installation of that time.
    for (const { name, checksum } of migrations)
      await client.query('update _prisma_migrations set checksum = $2 where migration_name = $1', [
        name,
        checksum,
      ]);
    // The rows are what the triggers made of them, and come in any order.
    await client.query('set session_replication_role = replica');
    for (const [table, rows] of Object.entries(tables)) {
      const { rows: columns } = await client.query<{ name: string }>(
        `select quote_ident(attname) as name from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
        [table],
      );
      // A migration may have inserted rows.
      await client.query(`delete from ${table}`);
      const list = columns.map(({ name }) => name).join();
      await client.query(
        `insert into ${table} (${list}) overriding system value
         select ${list} from json_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(postpone(rows, ageSeconds))],
      );
    }
    for (const [sequence, last] of Object.entries(sequences))
      await client.query('select setval($1, $2)', [sequence, last]);
  });
  return database;
}

/**
 * Creates databases with the schema and the rows of the state. Times in rows are moved, so that the state seems to have
 * been taken just now: tokens and mails have not expired since. The times in ids stay.
 */
export const restoreState = (state: PlatformState): Promise<Databases> => {
  const ageSeconds = Math.floor((Date.now() - Date.parse(state.takenAt)) / 1_000);
  return forEachService((name) => restoreDatabase(name, state.databases[name], ageSeconds));
};
