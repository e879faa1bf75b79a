import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { toNetwork } from '../../base/network.js';
import { createAuditId } from '../../audit/queries.js';
import {
  insertRefusedUses,
  type PresentedToken,
  type RefusalCause,
  type RefusedUse,
} from './refused-uses.queries.js';

/** Refusals are collected for this long, then written in one statement, off the request path. */
const FLUSH_EVERY_MS = 500;
const MAX_FLUSH = 500;
/** A few megabytes in memory; refusals beyond that are dropped, and counted in the log. */
const MAX_GATHERED = 10_000;
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
  const gathered: RefusedUse[] = [];
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });
  const networks = new LRUCache<string, { count: number }>({ max: MAX_REMEMBERED, ttl: REPEATED_AFTER_MS });
  let wakeReaction: (() => void) | undefined;
  let dropped = 0;

  async function write(): Promise<void> {
    try {
      while (gathered.length > 0) {
        const batch = gathered.slice(0, MAX_FLUSH);
        if (await insertRefusedUses(deps.pool, batch)) wakeReaction?.();
        gathered.splice(0, batch.length);
      }
      if (dropped > 0)
        deps.log.warn({ uses: dropped }, 'dropped refused uses of tokens: there were too many at once');
      dropped = 0;
    } catch (error) {
      deps.log.warn(
        { err: error, uses: gathered.length },
        'failed to record refused uses of tokens; retrying',
      );
    }
  }

  // Two flushes never overlap, so that no refusal is written by both.
  const flush = createPeriodicTask({
    intervalMs: FLUSH_EVERY_MS,
    async run() {
      if (gathered.length > 0 || dropped > 0) await write();
    },
    onError: (error) => {
      deps.log.warn({ err: error }, 'failed to record refused uses of tokens; retrying');
    },
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
      if (gathered.length < MAX_GATHERED) gathered.push({ ...use, cause, id: createAuditId(at), at });
      else dropped += 1;
    },

    /** Sets what is called after the use of a rotated token has been stored, which had ended. */
    onReuse(wake: () => void): void {
      wakeReaction = wake;
    },
    start: flush.start,

    /** Stops the timer and writes what was collected. */
    async stop(): Promise<void> {
      await flush.stop();
      await flush.run();
      // This is the last chance, so retry once in case the connection broke.
      await flush.run();
    },
  };
}

/** Records refused uses of tokens for the audit. A kill -9 loses those of the last half second. */
export type RefusedUses = ReturnType<typeof createRefusedUses>;
