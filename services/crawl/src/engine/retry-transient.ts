import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, isDatabaseUnavailable } from '@platform/service-kit';

/** SQLSTATE of a deadlock and of a failed serialization: the same again will do. */
const repeatable: ReadonlySet<unknown> = new Set(['40P01', '40001']);
const isRepeatable = (error: unknown): boolean =>
  isDatabaseUnavailable(error) || repeatable.has((error as { code?: unknown } | undefined)?.code);

/**
 * Repeats a write while the database is away, or chose it as a deadlock's victim: the work of a run is done and must not be done again
 * for want of a row. Every write of a run is safe to repeat.
 *
 * @param signal - ends the waiting; the last error is thrown.
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
