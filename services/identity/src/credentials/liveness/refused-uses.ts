import { type Clock, createBatchWriter, type Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { toNetwork } from '../../base/network.js';
import { createAuditId } from '../../audit/record.sql.js';
import {
  insertRefusedUses,
  type PresentedToken,
  type RefusalCause,
  type RefusedUse,
} from './refused-uses.sql.js';

/** The same refusal is recorded once in this time, so that a client that tries again and again fills no audit. */
const REPEATED_AFTER_MS = 10 * 60_000;
const MAX_REMEMBERED = 20_000;
/** The unit of which one client controls all addresses. */
const NETWORK = { ipv4: 32, ipv6: 64 } as const;
/** So many networks are recorded for a token in that time. */
const MAX_NETWORKS = 20;

export function createRefusedUses(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });
  const networks = new LRUCache<string, { count: number }>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });
  let wakeReaction: (() => void) | undefined;
  const writer = createBatchWriter<RefusedUse>({
    what: 'refused uses of tokens',
    async write(uses) {
      if (await insertRefusedUses(deps.pool, uses)) wakeReaction?.();
    },
    everyMs: 500,
    maxBatch: 500,
    // A few megabytes.
    maxHeld: 10_000,
    log: deps.log,
  });

  /** Returns whether the refusal is worth an entry, and remembers it. */
  function isNew(holder: string, address: string | null): boolean {
    const key = `${holder} ${toNetwork(address ?? '', NETWORK)}`;
    if (recent.has(key)) return false;
    const recorded = networks.get(holder) ?? { count: 0 };
    if (recorded.count >= MAX_NETWORKS) return false;
    if (recorded.count === 0) networks.set(holder, recorded);
    recorded.count += 1;
    recent.set(key, true);
    return true;
  }

  return {
    /** Records a refusal in memory; the database isn't touched. */
    record(use: PresentedToken, cause: RefusalCause): void {
      if (!isNew(`${use.holder} ${cause}`, use.address)) return;
      const at = new Date(deps.clock());
      writer.add({ ...use, cause, id: createAuditId(at), at });
    },

    /** Sets what is called after the use of a rotated token has been stored, which had ended. */
    onReuse(wake: () => void): void {
      wakeReaction = wake;
    },
    start: writer.start,
    stop: writer.stop,
  };
}

/** Records refused uses of tokens for the audit. A kill -9 loses those of the last half second. */
export type RefusedUses = ReturnType<typeof createRefusedUses>;
