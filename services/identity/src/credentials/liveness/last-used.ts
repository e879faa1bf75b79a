import { type Clock, createBatchWriter, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { TokenUse } from './refused-uses.sql.js';
import { MAX_USER_AGENT_LENGTH } from '../../base/caller/client.js';

/** The last use of a token since the last uses were written. */
export interface LastUse {
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** Creates the recorder of last-used times. A kill -9 loses the times of the last two seconds, nothing else. */
export function createLastUsed(deps: {
  readonly pool: pg.Pool;
  /** Writes uses in one statement. */
  readonly write: (db: pg.Pool, uses: readonly LastUse[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const writer = createBatchWriter<LastUse>({
    what: 'last-used times',
    toKey: ({ tokenId }) => tokenId,
    write: (uses) => deps.write(deps.pool, uses),
    everyMs: 2_000,
    maxBatch: 500,
    // Some twenty megabytes.
    maxHeld: 100_000,
    log: deps.log,
  });
  return {
    record({ tokenId, address, userAgent }: Omit<TokenUse, 'digest'>): void {
      const program = userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null;
      writer.add({ tokenId, at: deps.clock(), address, userAgent: program });
    },
    start: writer.start,
    stop: writer.stop,
  };
}

export type LastUsed = ReturnType<typeof createLastUsed>;
