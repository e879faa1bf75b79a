import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from 'pino';
import {
  applyMigration,
  DEFAULT_LOCK_WAITS,
  type LockWaits,
  type Migration,
  MigrationError,
} from './apply-migration.js';
import { connectAtStart } from './connect-at-start.js';

/*
 * SQL migrations in Prisma's own layout (`<timestamp>_<name>/migration.sql`) and in its own
 * `_prisma_migrations` table, so that `prisma migrate` works on the same database. Prisma's
 * engine is not used, because it would add hundreds of megabytes to an image.
 *
 * A migration that older programs can run on says so in its first line: `-- compatible-with: <name of a migration>` means
 * that a program which has that migration, but not this one, starts and works on the migrated schema. So a release can be
 * rolled back, and pods of the release before restart while the new ones roll out. The names are stored in a table beside
 * Prisma's, because an older program does not have the file. Without the line, only a program that has the migration starts.
 *
 * One advisory lock serialises several migrators; each migration is one transaction, so a
 * failure half-way leaves nothing of it behind. For the exception see apply-migration.ts.
 */

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  /** As in {@link Migration}; null when Prisma's own tool applied it. */
  readonly compatibleWith: string | null;
}

/** The key of the advisory lock: an arbitrary number, the same for every migrator of a database. */
const LOCK_ID = 72_707_369;
const LOCK_POLL_MS = 200;

const createTables = `create table if not exists _migration_compatibility (
  migration_name varchar(255) primary key,
  compatible_with varchar(255) not null
);
create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/** @returns the path of the migrations of a program, whose folder is next to the folder `prisma`. */
export const findMigrations = (program: string): string =>
  fileURLToPath(new URL('../prisma/migrations', program));

const COMPATIBILITY = /^-- compatible-with: (\S+)$/m;

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
      const compatibleWith = COMPATIBILITY.exec(sql)?.[1] ?? name;
      if (!names.includes(compatibleWith))
        throw new MigrationError(
          `The migration ${name} is compatible with ${compatibleWith}, which is missing.`,
        );
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), compatibleWith };
    }),
  );
}

async function hasTable(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    name,
  ]);
  return rows[0]?.exists === true;
}

/** Reads what was applied, by this program or by Prisma's own tool, which has no table of compatibilities. */
async function readApplied(client: pg.ClientBase): Promise<AppliedMigration[]> {
  if (!(await hasTable(client, '_prisma_migrations'))) return [];
  const compatibility = (await hasTable(client, '_migration_compatibility'))
    ? '_migration_compatibility'
    : '(select null::text as migration_name, null::text as compatible_with) none';
  const { rows } = await client.query<AppliedMigration>(
    `select migration_name as name, checksum, compatible_with as "compatibleWith"
     from _prisma_migrations left join ${compatibility} using (migration_name)
     where finished_at is not null and rolled_back_at is null order by migration_name`,
  );
  return rows;
}

/** @returns the migrations still to be applied, oldest first. */
function findPending(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, compatibleWith } of applied) {
    const migration = known.get(name);
    if (!migration && (compatibleWith === null || !known.has(compatibleWith)))
      throw new MigrationError(
        `The database is newer than this program: it has the migration ${name}. Run a newer version.`,
      );
    if (migration && migration.checksum !== checksum)
      throw new MigrationError(`The migration ${name} was changed after it had been applied.`);
  }
  const done = new Set(applied.map(({ name }) => name));
  return migrations.filter((migration) => !done.has(migration.name));
}

type WarnLog = Pick<Logger, 'warn'>;
const silent: WarnLog = { warn: () => undefined };

/**
 * Polls for the lock. A statement that waited for it would keep a snapshot, and an index that the holder of the lock
 * creates concurrently waits for the end of every snapshot.
 */
async function acquireLock(client: pg.ClientBase, log: WarnLog): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
      LOCK_ID,
    ]);
    if (rows[0]?.held === true) return;
    if (!isTold) log.warn('another migration of this database is running: waiting for it to end');
    await delay(LOCK_POLL_MS);
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Applies the missing migrations. Several processes may do so at once.
 *
 * @param connectionString - a role that may create tables.
 * @param folder - the path of `prisma/migrations`.
 * @param log - receives a warning when the database cannot be reached, another migration runs, or a table is in use.
 * @returns the names of the migrations that this call applied.
 * @throws {@link MigrationError} when the database is newer, was changed, or a migration fails.
 */
export async function migrate(
  connectionString: string,
  folder: string,
  log = silent,
  lockWaits: LockWaits = DEFAULT_LOCK_WAITS,
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = await connectAtStart(() => connect(connectionString), log);
  try {
    await acquireLock(client, log);
    await client.query(createTables);
    const pending = findPending(migrations, await readApplied(client));
    for (const migration of pending) await applyMigration(client, migration, log, lockWaits);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

/**
 * Checks that all migrations are applied. A service does this before it serves, with its first query.
 *
 * @param log - receives a warning while the database cannot be reached.
 * @throws {@link MigrationError} when the database's schema is older or newer than the program's.
 */
export async function assertMigrated(pool: pg.Pool, folder: string, log = silent): Promise<void> {
  const migrations = await readMigrations(folder);
  const client = await connectAtStart(() => pool.connect(), log);
  try {
    const [oldest] = findPending(migrations, await readApplied(client));
    if (oldest)
      throw new MigrationError(
        `The database lacks the migration ${oldest.name}. Run the command "migrate" of this service first.`,
      );
  } finally {
    client.release();
  }
}
