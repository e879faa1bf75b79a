import type pg from 'pg';

/** An arbitrary fixed number; the replica that holds the lock reconciles. */
const LEADER_LOCK = 72_707_370;

/** If the holder's host disappears, PostgreSQL notices within seconds and releases the lock. */
const KEEPALIVE =
  'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3';

/** Runs `work` on one replica at a time. @returns false when another replica holds the lock. */
export async function runAsLeader(pool: pg.Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query(KEEPALIVE);
    const { rows } = await client.query<{ won: boolean }>('select pg_try_advisory_lock($1) as won', [
      LEADER_LOCK,
    ]);
    if (!rows[0]?.won) {
      isBroken = false;
      return false;
    }
    await work();
    await client.query('select pg_advisory_unlock($1)', [LEADER_LOCK]);
    isBroken = false;
    return true;
  } finally {
    // Closing the connection releases its lock.
    client.release(isBroken);
  }
}
