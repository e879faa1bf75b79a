import { waitFor } from '@platform/testing';
import type pg from 'pg';

const waiters = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

/** Waits until at least so many statements wait for a lock. */
export const waitForLockWaiters = (db: Pick<pg.Pool, 'query'>, count = 1): Promise<unknown> =>
  waitFor(async () => ((await db.query(waiters)).rowCount ?? 0) >= count, {
    what: `${count} statements that wait for a lock`,
  });
