import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createAuditId } from '../../audit/queries.js';
import { type FailedSignIn, insertFailedSignIns, type StoredFailure } from './failed-sign-ins.queries.js';

/** Failures are collected for this long, then written in one statement, off the request path. */
const FLUSH_EVERY_MS = 1_000;
/** The maximum number of failures in one statement. */
const MAX_FLUSH = 500;
/** A few megabytes in memory; failures beyond that are only counted, in the log. */
const MAX_GATHERED = 10_000;

export function createFailedSignIns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const gathered: StoredFailure[] = [];
  let dropped = 0;

  async function write(): Promise<void> {
    try {
      while (gathered.length > 0) {
        const batch = gathered.slice(0, MAX_FLUSH);
        await insertFailedSignIns(deps.pool, batch);
        gathered.splice(0, batch.length);
      }
      if (dropped > 0)
        deps.log.warn(
          { failures: dropped },
          'dropped failed sign-ins from the audit: there were too many at once',
        );
      dropped = 0;
    } catch (error) {
      deps.log.warn(
        { err: error, failures: gathered.length },
        'failed to write failed sign-ins to the audit; retrying',
      );
    }
  }

  // Two flushes never overlap, so that no failure is written by both.
  const flush = createPeriodicTask({
    intervalMs: FLUSH_EVERY_MS,
    run: write,
    onError: (error) => {
      deps.log.warn({ err: error }, 'failed to write failed sign-ins to the audit; retrying');
    },
  });

  return {
    record(failure: FailedSignIn): void {
      const at = new Date(deps.clock());
      if (gathered.length < MAX_GATHERED) gathered.push({ ...failure, id: createAuditId(at), at });
      else dropped += 1;
    },

    /** Writes the collected failures. Those that can't be written are kept for the next flush. */
    flush: flush.run,
    start: flush.start,

    /** Stops the timer and flushes. */
    async stop(): Promise<void> {
      await flush.stop();
      await flush.run();
      // This is the last chance, so retry once in case the connection broke.
      if (gathered.length > 0) await flush.run();
    },
  };
}

/**
 * Records failed sign-ins for the audit. A request only appends to a list; the account is looked up when the list is
 * written, so that timing doesn't reveal whether it exists. A kill -9 loses the failures of the last second.
 */
export type FailedSignIns = ReturnType<typeof createFailedSignIns>;
