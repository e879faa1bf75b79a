import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';

/** Uses are collected for this long, then written in one statement, off the request path. */
const FLUSH_EVERY_MS = 2_000;
/** The maximum number of tokens in one statement. */
const MAX_FLUSH = 500;

export interface TokenUse {
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface LastUsed {
  /** Records a use in memory; the database isn't touched. */
  record(tokenId: string): void;
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
  readonly write: (db: pg.Pool, uses: readonly TokenUse[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}): LastUsed {
  let gathered = new Map<string, number>();
  let flushing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const uses = [...gathered];
    gathered = new Map();
    for (let start = 0; start < uses.length; start += MAX_FLUSH) {
      const chunk = uses.slice(start, start + MAX_FLUSH);
      try {
        await deps.write(
          deps.pool,
          chunk.map(([tokenId, at]) => ({ tokenId, at })),
        );
      } catch (error) {
        deps.log.warn({ err: error, uses: uses.length - start }, 'failed to write last-used times; retrying');
        for (const [tokenId, at] of uses.slice(start))
          gathered.set(tokenId, Math.max(at, gathered.get(tokenId) ?? 0));
        return;
      }
    }
  }

  // Flushes are serialised: concurrent statements on the same rows would only wait for each other.
  const flush = (): Promise<void> =>
    (flushing ??= write().finally(() => {
      flushing = undefined;
    }));

  return {
    record: (tokenId) => gathered.set(tokenId, deps.clock()),
    flush,
    start() {
      timer = setInterval(() => {
        if (gathered.size > 0) void flush();
      }, FLUSH_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
      if (gathered.size > 0) await flush();
    },
  };
}
