/** A task that ends sooner needs no write. */
const FIRST_AFTER_MS = 100;
const EVERY_MS = 1_000;

/**
 * Writes the latest progress from time to time, never backwards. A failed write is ignored, as the next one replaces
 * it.
 */
export function createProgress(save: (progress: number) => Promise<unknown>) {
  let latest = 10;
  let saved = 10;
  let timer: NodeJS.Timeout | undefined;
  function write(): void {
    timer = undefined;
    if (latest === saved) return;
    saved = latest;
    void save(latest).catch(() => undefined);
    timer = setTimeout(write, EVERY_MS);
  }
  return {
    report(progress: number): void {
      latest = Math.max(latest, progress);
      timer ??= setTimeout(write, FIRST_AFTER_MS);
    },
    stop: () => {
      clearTimeout(timer);
    },
  };
}
