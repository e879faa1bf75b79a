import type { Logger } from '@platform/service-kit';

const DEFAULT_CONCURRENCY = 20;
/** More failures than this mean that a dependency is unavailable, not that single items are bad. */
const MAX_FAILURES = 20;

/**
 * Does the work for every item, several at a time. An item that fails is logged and does not stop the others.
 *
 * @returns how many failed; rejects when many do.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  {
    log,
    what,
    concurrency = DEFAULT_CONCURRENCY,
  }: { readonly log: Logger; readonly what: string; readonly concurrency?: number },
): Promise<number> {
  const remaining = items.values();
  let failures = 0;
  async function takeTurns(): Promise<void> {
    for (const item of remaining)
      await work(item).catch((error: unknown) => {
        failures += 1;
        if (failures > MAX_FAILURES) throw error;
        log.warn({ err: error }, `${what} failed; will retry in the next round`);
      });
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, takeTurns));
  return failures;
}
