import { hash } from 'node:crypto';
import { type Clock, tooManyRequests } from '@platform/service-kit';

const MAX_REMEMBERED = 100_000;
const MESSAGE = 'Too many requests with proofs of possession: try again later';

/** Whose key it is: an account, and the organisation that it belongs to. */
export interface Holder {
  readonly orgId: string;
  readonly accountId: string;
}

/** Counts the keys of holders. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    get: (holder: string): number => counts.get(holder) ?? 0,
    add(holder: string, change: 1 | -1): void {
      const count = (counts.get(holder) ?? 0) + change;
      if (count > 0) counts.set(holder, count);
      else counts.delete(holder);
    },
  };
}

/**
 * Remembers keys for a time, in memory that is bounded; of each it has the digest, however long it is. No key is forgotten
 * early to make room. An organisation may have as many keys as there is room left for others: a flooding one gets half of
 * the room, two get a third each, and there is always room for one more. The same holds for an account within what its
 * organisation may have, however many applications that has. Each call costs the same, however many keys there are.
 */
export function createReplayCheck({
  retentionMs,
  clock,
  max = MAX_REMEMBERED,
}: {
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly max?: number;
}) {
  /** The keys in the order in which they expire, because all are kept equally long. */
  const seen = new Map<string, Holder & { readonly expiresAt: number }>();
  const ofOrganisations = createCounts();
  const ofAccounts = createCounts();

  function count({ orgId, accountId }: Holder, change: 1 | -1): void {
    ofOrganisations.add(orgId, change);
    ofAccounts.add(accountId, change);
  }

  function forgetExpired(now: number): void {
    for (const [digest, holder] of seen) {
      if (holder.expiresAt > now) return;
      seen.delete(digest);
      count(holder, -1);
    }
  }

  /** Returns in how many milliseconds the oldest key expires. */
  function findNextExpiry(now: number): number {
    const [oldest] = seen.values();
    return oldest === undefined ? 0 : oldest.expiresAt - now;
  }

  function hasRoom({ orgId, accountId }: Holder): boolean {
    const ofOrganisation = ofOrganisations.get(orgId);
    if (ofOrganisation >= max - seen.size) return false;
    // Half of what the others have left: where the organisation is refused when it alone goes on.
    const roomOfOrganisation = (max - (seen.size - ofOrganisation)) / 2;
    return ofAccounts.get(accountId) < roomOfOrganisation - ofOrganisation;
  }

  return {
    /**
     * Returns whether the key was not seen before, and remembers it.
     *
     * @throws AppError 429 when the holder has no room for it.
     */
    isFirst({ orgId, accountId }: Holder, key: string): boolean {
      const now = clock();
      forgetExpired(now);
      const digest = hash('sha256', key, 'base64url');
      if (seen.has(digest)) return false;
      const holder = { orgId, accountId };
      if (!hasRoom(holder)) throw tooManyRequests(findNextExpiry(now) / 1_000, MESSAGE);
      seen.set(digest, { ...holder, expiresAt: now + retentionMs });
      count(holder, 1);
      return true;
    },
  };
}
