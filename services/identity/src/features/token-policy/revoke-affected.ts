import type pg from 'pg';
import { runInTransaction } from '../../transaction.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { describePolicyRevocation } from '../token-alerts/alerts.js';
import { limitAlert } from '../token-alerts/limited-alerts.js';
import { storeAlert } from '../token-alerts/queries.js';
import { lockTokenOwner, type Revoker, revokeLockedTokens } from '../token-revocation/queries.js';
import type { Affected } from './affected.js';
import {
  clearRevocation,
  hasRevoked,
  lockRevocation,
  type PolicySave,
  REVOCATION_REASON,
} from './revocation.queries.js';

/** The number of tokens that are revoked in one transaction, in which creations by their owner wait. */
const BATCH = 50;

/** The database is away when the tokens of so many owners cannot be revoked. */
const MAX_FAILURES = 5;

/** Rolls a transaction back, because the policy was saved again. */
const savedAgain = new Error('the policy was saved again');

/** The administrator who saved the policy. */
export type PolicySaver = Revoker & {
  readonly userId: string;
  readonly fullName: string;
  readonly email: string;
};

/** Returns the tokens of each owner. */
function splitByOwner(tokens: readonly Affected[]): Affected[][] {
  const byOwner = new Map<string, Affected[]>();
  for (const token of tokens) {
    const owned = byOwner.get(token.ownerId) ?? [];
    byOwner.set(token.ownerId, owned);
    owned.push(token);
  }
  return [...byOwner.values()];
}

/**
 * Revokes the tokens that a saved policy would not allow, with their families, then clears the mark of the save. It stops
 * when the policy is saved again, since that save decides anew. Each owner gets one mail, which is stored with the first
 * revocations. [PAT-30]
 *
 * @param at - the time of the revocations, not before the save.
 * @returns how many tokens were revoked.
 */
export async function revokeAffected(
  { pool, outbox }: { readonly pool: pg.Pool; readonly outbox: Outbox },
  save: PolicySave,
  by: PolicySaver,
  tokens: readonly Affected[],
  at: Date,
): Promise<number> {
  const toAlert = (ownerId: string, names: readonly string[]) =>
    limitAlert(outbox, {
      topic: 'policy',
      causedBy: `${by.userId}:${ownerId}`,
      recipients: [ownerId],
      tokenOwnerId: ownerId,
      alert: describePolicyRevocation(names, by),
      client: by.client,
      at,
    });

  /** @param names - those of all tokens of the owner that are to be revoked. */
  const revokeBatch = (batch: readonly Affected[], names: readonly string[]): Promise<number> =>
    runInTransaction(pool, async (client) => {
      const [first] = batch;
      const owner = first && (await lockTokenOwner(client, first.id, save.orgId));
      // The policy is locked after the owner, as by a creation.
      if (!(await lockRevocation(client, save))) throw savedAgain;
      const ownerId = owner?.ownerId ?? null;
      const isTold = ownerId === null || ownerId === by.userId || (await hasRevoked(client, save, ownerId));
      let count = 0;
      for (const { id: tokenId } of batch)
        count += await revokeLockedTokens(client, {
          tokenId,
          ownerId: undefined,
          by,
          reason: REVOCATION_REASON,
          keepsDescendants: false,
          at,
        });
      if (count > 0 && !isTold) await storeAlert(client, toAlert(ownerId, names), at);
      return count;
    });

  async function revokeOwned(owned: readonly Affected[]): Promise<number> {
    const names = owned.map(({ name }) => name);
    let count = 0;
    for (let start = 0; start < owned.length; start += BATCH)
      count += await revokeBatch(owned.slice(start, start + BATCH), names);
    return count;
  }

  let count = 0;
  const failures: unknown[] = [];
  try {
    for (const owned of splitByOwner(tokens))
      try {
        count += await revokeOwned(owned);
      } catch (error) {
        // Tokens that cannot be revoked now do not hold up those of others.
        if (error === savedAgain || failures.push(error) === MAX_FAILURES) throw error;
      }
    if (failures.length > 0) throw failures[0];
    await clearRevocation(pool, save);
  } catch (error) {
    if (error !== savedAgain) throw error;
  } finally {
    outbox.wake();
  }
  return count;
}
