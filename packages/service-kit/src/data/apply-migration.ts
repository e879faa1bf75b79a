import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { backoffMs } from '../concurrency/backoff.js';

/*
 * Replicas serve while a migration runs. A statement that waits for a lock on a table also blocks every later statement
 * on it, so it gives up soon, lets those pass, and is retried.
 *
 * An index on a large table is created by a migration that is a single `create index concurrently …`. It blocks neither
 * reads nor writes, and cannot run in a transaction. A failed one leaves an invalid index behind, which the next attempt
 * drops.
 */

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hex, as Prisma computes it. */
  readonly checksum: string;
  /** A program whose newest migration is this one, or a later one, can run on the migrated schema. */
  readonly compatibleWith: string;
}

/** States what is wrong with the database's schema, and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** A migration that failed and left nothing behind: running it again may succeed. */
export class FailedMigrationError extends MigrationError {}

export interface LockWaits {
  /**
   * The time for which one attempt waits for a lock, and blocks later statements: well below the timeout of a
   * service's statements.
   */
  readonly lockTimeoutMs: number;
  /** The time for which a migration is retried. */
  readonly totalMs: number;
}

export const DEFAULT_LOCK_WAITS: LockWaits = { lockTimeoutMs: 300, totalMs: 5 * 60_000 };

const RETRY_DELAYS = { firstMs: 500, maxMs: 10_000 };

/** The codes lock_not_available and deadlock_detected, after which nothing of the transaction is left. */
const LOCK_ERROR_CODES: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']);

const isLockError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && LOCK_ERROR_CODES.has(error.code);

async function recordMigration(
  client: pg.ClientBase,
  { checksum, name, compatibleWith }: Migration,
): Promise<void> {
  await client.query(
    `insert into _migration_compatibility (migration_name, compatible_with) values ($1, $2)
     on conflict (migration_name) do update set compatible_with = excluded.compatible_with`,
    [name, compatibleWith],
  );
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     values ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}

async function runInTransaction(client: pg.ClientBase, migration: Migration, lockTimeoutMs: number) {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    await client.query(migration.sql);
    await recordMigration(client, migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

const CONCURRENT_INDEX =
  /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?:"(?<quoted>\w+)"|(?<plain>\w+))\s+on\s[^;]+;?$/i;

/** @returns the name of the index that the migration creates concurrently, or undefined when it does anything else. */
function findConcurrentIndex(sql: string): string | undefined {
  const statement = sql.replaceAll(/^\s*--.*$/gm, '').trim();
  const { quoted, plain } = CONCURRENT_INDEX.exec(statement)?.groups ?? {};
  return quoted ?? plain?.toLowerCase();
}

async function createIndex(client: pg.ClientBase, migration: Migration, name: string, waitMs: number) {
  const { rows } = await client.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass($1)`,
    [client.escapeIdentifier(name)],
  );
  const isInvalid = rows[0]?.isValid === false;
  // It blocks no other statement while it waits for transactions to end, so it may wait for long.
  await client.query(`set lock_timeout = ${waitMs}`);
  try {
    if (isInvalid) await client.query(`drop index concurrently ${client.escapeIdentifier(name)}`);
    // A valid index was created by a run that ended before it recorded the migration.
    if (isInvalid || rows.length === 0) await client.query(migration.sql);
    await recordMigration(client, migration);
  } finally {
    await client.query('reset lock_timeout');
  }
}

/** Applies one migration and records it. @throws {@link MigrationError} */
export async function applyMigration(
  client: pg.ClientBase,
  migration: Migration,
  log: Pick<Logger, 'warn'>,
  { lockTimeoutMs, totalMs }: LockWaits,
): Promise<void> {
  const index = findConcurrentIndex(migration.sql);
  const deadline = performance.now() + totalMs;
  for (let failures = 1; ; failures += 1)
    try {
      return await (index === undefined
        ? runInTransaction(client, migration, lockTimeoutMs)
        : createIndex(client, migration, index, totalMs));
    } catch (error) {
      const delayMs = backoffMs(failures, RETRY_DELAYS);
      if (isLockError(error) && performance.now() + delayMs < deadline) {
        log.warn({ migration: migration.name }, 'a migration waits for a table that is in use: trying again');
        await delay(delayMs);
        continue;
      }
      const outcome = index === undefined ? 'failed and was rolled back' : 'failed and can be run again';
      const reason = error instanceof Error ? error.message : String(error);
      throw new FailedMigrationError(`The migration ${migration.name} ${outcome}: ${reason}`, {
        cause: error,
      });
    }
}
