import type pg from 'pg';
import type { Caller } from '../audit/actor.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { describePolicyRevocation } from '../token-alerts/alerts.js';
import { limitAlert, type LimitedAlert } from '../token-alerts/limited-alerts.js';
import { type RevokedToken, revokeTokens } from '../token-revocation/queries.js';
import type { Affected } from './affected.js';

/**
 * Revokes the tokens with their families. Each owner gets one mail, which is stored with the first revocation.
 *
 * @returns how many tokens were revoked.
 */
export async function revokeAffected(
  { pool, outbox }: { readonly pool: pg.Pool; readonly outbox: Outbox },
  caller: Caller,
  tokens: readonly Affected[],
  at: Date,
): Promise<number> {
  const namesOfOwner = new Map<string, string[]>();
  for (const { ownerId, name } of tokens)
    namesOfOwner.set(ownerId, [...(namesOfOwner.get(ownerId) ?? []), name]);
  function toAlert({ ownerId }: RevokedToken): LimitedAlert | null {
    if (ownerId === null) return null;
    const names = namesOfOwner.get(ownerId);
    namesOfOwner.delete(ownerId);
    if (!names || ownerId === caller.userId) return null;
    return limitAlert(outbox, {
      topic: 'policy',
      causedBy: `${caller.userId}:${ownerId}`,
      recipients: [ownerId],
      alert: describePolicyRevocation(names, caller),
      client: caller.client,
      at,
    });
  }
  let count = 0;
  const revocation = {
    ownerId: undefined,
    by: caller,
    reason: 'policy',
    keepsDescendants: false,
    at,
    toAlert,
  };
  for (const { id: tokenId } of tokens) count += await revokeTokens(pool, { ...revocation, tokenId });
  outbox.wake();
  return count;
}
