import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createAuditId } from '../audit/queries.js';
import { type FailedSignIn, insertFailedSignIns, type StoredFailure } from './failed-sign-ins.queries.js';

/** Failures are gathered this long, then written in one statement off the request path. */
const FLUSH_EVERY_MS = 1_000;
/** Failures in one statement. */
const MAX_FLUSH = 500;
/** In memory, a few megabytes: past that, failures are counted in the log only. */
const MAX_GATHERED = 10_000;

/**
 * Sign-ins that failed, for the audit. A request only adds one to a list: whether there is such an account is looked
 * up when the list is written, so that time tells nobody. A kill -9 loses the last second.
 */
export interface FailedSignIns {
  record(failure: FailedSignIn): void;
  /** Writes what was gathered. What can't be written now is kept for the next time. */
  flush(): Promise<void>;
  start(): void;
  /** Stops the timer and writes the rest. */
  stop(): Promise<void>;
}

export function createFailedSignIns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}): FailedSignIns {
  const gathered: StoredFailure[] = [];
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    try {
      while (gathered.length > 0) {
        const batch = gathered.slice(0, MAX_FLUSH);
        await insertFailedSignIns(deps.pool, batch);
        gathered.splice(0, batch.length);
      }
      if (dropped > 0) deps.log.warn({ failures: dropped }, 'failed sign-ins are missing from the audit');
      dropped = 0;
    } catch (error) {
      deps.log.warn({ err: error, failures: gathered.length }, 'failed sign-ins not written yet');
    }
  }

  // One at a time: each takes what the one before has left.
  const flush = (): Promise<void> =>
    (writing ??= write().finally(() => {
      writing = undefined;
    }));

  return {
    record(failure) {
      const at = new Date(deps.clock());
      if (gathered.length < MAX_GATHERED) gathered.push({ ...failure, id: createAuditId(at), at });
      else dropped += 1;
    },
    flush,
    start() {
      timer = setInterval(() => {
        if (gathered.length > 0) void flush();
      }, FLUSH_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
      // There is no next time: a connection that broke in between is tried once more.
      if (gathered.length > 0) await flush();
    },
  };
}
