import type pg from 'pg';
import { type Breach, findBreaches, isRevoking, type TokenPolicy } from './policy.js';
import { type ActiveToken, findActiveTokens, findFamilies } from './queries.js';
import type { AffectedOwner } from './schemas.js';

const BATCH = 1_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** An active token that a policy would not allow. */
export type Affected = Pick<ActiveToken, 'id' | 'name' | 'ownerId' | 'ownerEmail' | 'ownerFullName'> & {
  readonly breaches: readonly (Breach | 'family')[];
};

const toAffected = (
  { id, name, ownerId, ownerEmail, ownerFullName }: ActiveToken,
  breaches: Affected['breaches'],
): Affected => ({ id, name, ownerId, ownerEmail, ownerFullName, breaches });

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
      if (breaches.length > 0) affected.push(toAffected(token, breaches));
    }
    if (batch.length < BATCH) return affected;
    before = batch.at(-1)?.id ?? before;
  }
}

/** Finds the tokens that would be revoked only because they belong to the families of the affected ones. */
export async function findRevokedWith(
  db: pg.Pool,
  affected: readonly Affected[],
  now: Date,
): Promise<Affected[]> {
  const revoked = new Set(affected.filter(({ breaches }) => isRevoking(breaches)).map(({ id }) => id));
  const roots = [...revoked];
  const found: Affected[] = [];
  for (let start = 0; start < roots.length; start += BATCH)
    for (const token of await findFamilies(db, roots.slice(start, start + BATCH), now)) {
      if (!revoked.has(token.id)) found.push(toAffected(token, ['family']));
      revoked.add(token.id);
    }
  return found;
}

export function groupByOwner(tokens: readonly Affected[]): AffectedOwner[] {
  const owners = new Map<string, AffectedOwner>();
  for (const { id, name, breaches, ownerId: userId, ownerEmail, ownerFullName } of tokens) {
    const owner = owners.get(userId) ?? { userId, ownerEmail, ownerFullName, tokens: [] };
    owner.tokens.push({ id, name, breaches: [...breaches] });
    owners.set(userId, owner);
  }
  return [...owners.values()];
}
