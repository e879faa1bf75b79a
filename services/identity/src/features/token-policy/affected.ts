import type pg from 'pg';
import { type Breach, findBreaches, type TokenPolicy } from './policy.js';
import { type ActiveToken, findActiveTokens } from './queries.js';
import type { AffectedOwner } from './schemas.js';

const BATCH = 1_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** An active token that a policy would not allow. */
export type Affected = ActiveToken & { readonly breaches: Breach[] };

/** Finds the active tokens of the organisation that the policy would not allow, newest first. */
export async function findAffected(
  db: pg.Pool,
  orgId: string,
  policy: TokenPolicy,
  now: Date,
): Promise<Affected[]> {
  const affected: Affected[] = [];
  let before = LAST_ID;
  for (;;) {
    const batch = await findActiveTokens(db, { orgId, now, before, limit: BATCH });
    for (const token of batch) {
      const breaches = findBreaches(policy, token, now);
      if (breaches.length > 0) affected.push({ ...token, breaches });
    }
    if (batch.length < BATCH) return affected;
    before = batch.at(-1)?.id ?? before;
  }
}

export function groupByOwner(tokens: readonly Affected[]): AffectedOwner[] {
  const owners = new Map<string, AffectedOwner>();
  for (const { id, name, breaches, ownerId: userId, ownerEmail } of tokens) {
    const owner = owners.get(userId) ?? { userId, ownerEmail, tokens: [] };
    owner.tokens.push({ id, name, breaches });
    owners.set(userId, owner);
  }
  return [...owners.values()];
}
