import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { TokenUse } from './refused-uses.queries.js';

/** Uses are collected for this long, then written in one statement, off the request path. */
const FLUSH_EVERY_MS = 2_000;
/** The maximum number of tokens in one statement. */
const MAX_FLUSH = 500;

/** The last use of a token since the last flush. */
export interface LastUse {
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

const MAX_USER_AGENT_LENGTH = 512;

export interface LastUsed {
  /** Records a use in memory; the database isn't touched. */
  record(use: TokenUse): void;
  /** Writes the collected uses. Those that can't be written are kept for the next flush. */
  flush(): Promise<void>;
  start(): void;
  /** Stops the timer and flushes. */
  stop(): Promise<void>;
}

/** Creates the recorder of last-used times. A kill -9 loses the times of the last two seconds, nothing else. */
export function createLastUsed(deps: {
  readonly pool: pg.Pool;
  /** Writes uses in one statement. */
  readonly write: (db: pg.Pool, uses: readonly LastUse[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}): LastUsed {
  let gathered = new Map<string, LastUse>();

  async function write(): Promise<void> {
    const uses = [...gathered.values()];
    gathered = new Map();
    for (let start = 0; start < uses.length; start += MAX_FLUSH) {
      const chunk = uses.slice(start, start + MAX_FLUSH);
      try {
        await deps.write(deps.pool, chunk);
      } catch (error) {
        deps.log.warn({ err: error, uses: uses.length - start }, 'failed to write last-used times; retrying');
        for (const use of uses.slice(start))
          if (use.at > (gathered.get(use.tokenId)?.at ?? 0)) gathered.set(use.tokenId, use);
        return;
      }
    }
  }

  // Two flushes never overlap: concurrent statements on the same rows would only wait for each other.
  const flush = createPeriodicTask({
    intervalMs: FLUSH_EVERY_MS,
    run: write,
    onError: (error) => {
      deps.log.warn({ err: error }, 'failed to write last-used times; retrying');
    },
  });

  return {
    record({ tokenId, address, userAgent }) {
      const program = userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null;
      gathered.set(tokenId, { tokenId, at: deps.clock(), address, userAgent: program });
    },
    flush: flush.run,
    start: flush.start,
    async stop() {
      await flush.stop();
      await flush.run();
      // This is the last chance, so retry once in case the connection broke.
      if (gathered.size > 0) await flush.run();
    },
  };
}
