import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@platform/service-kit';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

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
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await write();
    } catch (error) {
      if (!isRepeatable(error) || signal.aborted) throw error;
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
