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

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Creates the recorder of last-used times. A kill -9 loses the times of the last two seconds, nothing else. */
export function createLastUsed(deps: {
  readonly pool: pg.Pool;
  /** Writes uses in one statement. */
  readonly write: (db: pg.Pool, uses: readonly LastUse[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  /** Changed in place, because most uses follow another one of the same token. */
  let gathered = new Map<string, Writable<LastUse>>();

  /** Keeps a use that could not be written, unless there was a later one. */
  function keep(use: LastUse): void {
    const later = gathered.get(use.tokenId);
    if (!later || later.at < use.at) gathered.set(use.tokenId, use);
  }

  async function write(): Promise<void> {
    const uses = [...gathered.values()];
    gathered = new Map();
    for (let start = 0; start < uses.length; start += MAX_FLUSH) {
      const chunk = uses.slice(start, start + MAX_FLUSH);
      try {
        await deps.write(deps.pool, chunk);
      } catch (error) {
        deps.log.warn({ err: error, uses: uses.length - start }, 'failed to write last-used times; retrying');
        for (const use of uses.slice(start)) keep(use);
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
    /** Records a use in memory; the database isn't touched. */
    record({ tokenId, address, userAgent }: Omit<TokenUse, 'digest'>): void {
      const program = userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null;
      const at = deps.clock();
      const use = gathered.get(tokenId);
      if (!use) {
        gathered.set(tokenId, { tokenId, at, address, userAgent: program });
        return;
      }
      use.at = at;
      use.address = address;
      use.userAgent = program;
    },

    /** Writes the collected uses. Those that can't be written are kept for the next flush. */
    flush: flush.run,
    start: flush.start,

    /** Stops the timer and flushes. */
    async stop(): Promise<void> {
      await flush.stop();
      await flush.run();
      // This is the last chance, so retry once in case the connection broke.
      if (gathered.size > 0) await flush.run();
    },
  };
}

export type LastUsed = ReturnType<typeof createLastUsed>;
