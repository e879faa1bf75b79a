import type pg from 'pg';
import { DEFAULT_CONNECTION_POLICY, findConnectionBreaches } from './policy.js';
import { findConnections, findStoredPolicy } from './queries.js';

/**
 * Finds which of the connections get no more tokens, because the policy of the organisation or the operator's list of hosts has
 * changed, their member has another role, or they last too long.
 */
export async function findBreachedConnections(
  pool: pg.Pool,
  orgId: string,
  ids: readonly string[],
  conditions: { readonly now: number; readonly clientHosts: readonly string[] },
): Promise<ReadonlySet<string>> {
  const [policy = DEFAULT_CONNECTION_POLICY, connections] = await Promise.all([
    findStoredPolicy(pool, orgId),
    findConnections(pool, orgId, ids),
  ]);
  const breached = connections.filter(
    (connection) => findConnectionBreaches(policy, connection, conditions).length > 0,
  );
  return new Set(breached.map(({ id }) => id));
}
