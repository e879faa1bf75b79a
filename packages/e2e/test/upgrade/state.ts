import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, startOwnRedis, type TestDatabase } from '@platform/testing';
import { Redis } from 'ioredis';
import pg from 'pg';
import { forEachService, getMigrations, type ServiceName, type Stores } from '../platform/platform.js';

/** What a platform has stored at one moment. */
export interface PlatformState {
  readonly takenAt: string;
  readonly databases: Readonly<Record<ServiceName, DatabaseState>>;
  /** The value of each key of Redis, in the form of its command DUMP, in base64. */
  readonly redis: Readonly<Record<string, string>>;
}

interface DatabaseState {
  /** The names of the applied migrations. */
  readonly migrations: readonly string[];
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  /** The last value of each sequence that was used. */
  readonly sequences: Readonly<Record<string, string>>;
}

type Row = Readonly<Record<string, unknown>>;

async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const readDatabase = (url: string): Promise<DatabaseState> =>
  withClient(url, async (client) => {
    const read = async <Found extends pg.QueryResultRow>(sql: string) =>
      (await client.query<Found>(sql)).rows;
    const migrations = await read<{ name: string }>(
      'select migration_name as name from _prisma_migrations order by 1',
    );
    const tables = await read<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('public', 'outbox') and tablename not like '\\_%' order by 1`,
    );
    const filled: Record<string, readonly Row[]> = {};
    for (const { name } of tables) {
      const rows = await read<{ row: Row }>(
        `select to_jsonb(rows) as row from ${name} rows order by to_jsonb(rows)`,
      );
      if (rows.length > 0) filled[name] = rows.map(({ row }) => row);
    }
    const sequences = await read<{ name: string; last: string }>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
       where schemaname in ('public', 'outbox') and last_value is not null order by 1`,
    );
    return {
      migrations: migrations.map(({ name }) => name),
      tables: filled,
      sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
    };
  });

async function readRedis(url: string): Promise<Record<string, string>> {
  const redis = new Redis(url);
  const dumped: Record<string, string> = {};
  for (const key of (await redis.keys('*')).toSorted())
    dumped[key] = (await redis.dumpBuffer(key))?.toString('base64') ?? '';
  await redis.quit();
  return dumped;
}

/** Reads what the stores contain. No service runs in the meantime. */
export const readState = async ({ databases, redis }: Stores): Promise<PlatformState> => ({
  takenAt: new Date().toISOString(),
  databases: await forEachService((name) => readDatabase(databases[name].url)),
  redis: await readRedis(redis.url),
});

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(\+00:00|Z)$/;
/** The claims of tokens that are seconds since 1970. */
const SECONDS = new Set(['exp', 'iat', 'auth_time', 'loginTs']);

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
async function createDatabase(
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
  for (const name of migrations)
    await cp(join(getMigrations(service), name), join(folder, name), { recursive: true });
  await migrate(database.url, folder);
  await rm(folder, { recursive: true });
  await withClient(database.url, async (client) => {
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
         select ${list} from jsonb_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(postpone(rows, ageSeconds))],
      );
    }
    for (const [sequence, last] of Object.entries(sequences))
      await client.query('select setval($1, $2)', [sequence, last]);
  });
  return database;
}

/**
 * Creates stores with the schema, the rows and the keys of the state. Times in rows are moved, so that the state seems
 * to have been taken just now: nothing in it has expired since.
 */
export async function createStores(state: PlatformState): Promise<Stores> {
  const ageSeconds = Math.floor((Date.now() - Date.parse(state.takenAt)) / 1_000);
  const databases = await forEachService((name) => createDatabase(name, state.databases[name], ageSeconds));
  const redis = await startOwnRedis();
  const client = new Redis(redis.url);
  for (const [key, value] of Object.entries(state.redis))
    await client.restore(key, 0, Buffer.from(value, 'base64'));
  await client.quit();
  return { databases, redis };
}
