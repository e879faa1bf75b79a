import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, isDatabaseUnavailable } from '@platform/service-kit';

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
      if (!isDatabaseUnavailable(error) || signal.aborted) throw error;
      await delay(backoffMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }
}
