import type pg from 'pg';
import { MigrationError } from './apply-migration.js';

/*
 * A restore creates this table in its own transaction, and the command `after-restore` drops it in the transaction that ends
 * the cursors of the feed: in between, a service that served would let consumers skip events unnoticed.
 */
const PENDING_RESTORE = 'public._restore_pending';

/** @returns whether the database was restored, and {@link endPendingRestore} has not been committed since. */
export async function isRestorePending(db: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    PENDING_RESTORE,
  ]);
  return rows[0]?.exists === true;
}

/** Lets the service start. Call it in the transaction of what the restore requires. */
export const endPendingRestore = (client: Pick<pg.ClientBase, 'query'>): Promise<unknown> =>
  client.query(`drop table if exists ${PENDING_RESTORE}`);

/** @throws {@link MigrationError} between a restore and the command `after-restore`. */
export async function assertRestoreComplete(pool: pg.Pool): Promise<void> {
  if (await isRestorePending(pool))
    throw new MigrationError(
      'The database was restored from a backup. Run the command "after-restore" of this service first.',
    );
}
