import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, isDatabaseUnavailable } from '@platform/service-kit';

/** The SQLSTATEs of a deadlock and of a serialization failure, which disappear when the write is repeated. */
const repeatable: ReadonlySet<unknown> = new Set(['40P01', '40001']);
const isRepeatable = (error: unknown): boolean =>
  isDatabaseUnavailable(error) || repeatable.has((error as { code?: unknown } | undefined)?.code);

/**
 * Repeats a write while the database is unavailable or reports a deadlock: the work of a run is done, and must not be
 * done again because its row was not written. Every write of a run is safe to repeat.
 *
 * @param signal - ends the retries; the last error is thrown.
 */
export async function retryTransient<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isRepeatable(error) || signal.aborted) throw error;
      await delay(backoffMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }
}
