import type pg from 'pg';
import type { Logger } from '../telemetry/logging.js';
import type { BoxKey } from './secret-box.js';

/**
 * Logs, at the start of a service, each key that sealed values name and its `ENCRYPTION_KEYS` lack: an operator learns of a
 * lost key now, and not when somebody needs what it opens.
 *
 * @param sealed - selects of one column each, with the sealed values; nulls are left out.
 */
export async function reportMissingKeys(deps: {
  readonly pool: pg.Pool;
  readonly keys: readonly BoxKey[];
  readonly sealed: readonly string[];
  readonly log: Pick<Logger, 'error' | 'warn'>;
}): Promise<void> {
  const { pool, keys, sealed, log } = deps;
  try {
    const { rows } = await pool.query<{ key: string; values: number }>(
      `select split_part(value, '.', 2) as key, count(*)::int as values
       from (${sealed.join(' union all ')}) stored (value) where value is not null group by 1`,
    );
    const known = new Set(keys.map(({ id }) => id));
    for (const { key, values } of rows)
      if (!known.has(key))
        log.error({ key, values }, 'ENCRYPTION_KEYS lack a key: what it has sealed cannot be read');
  } catch (error) {
    log.warn({ err: error }, 'failed to look for values that none of ENCRYPTION_KEYS opens');
  }
}
