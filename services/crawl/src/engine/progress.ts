/** A task that ends sooner needs no write. */
const FIRST_AFTER_MS = 100;
const EVERY_MS = 1_000;

export const ACCEPTED_PROGRESS = 20;
/** Only a completed run has 100. */
const MAX_TASK_PROGRESS = 99;

/**
 * Converts a task's own progress (0–100) to the run's: it lies between the acceptance of the task and the end of the
 * run.
 */
export const toRunProgress = (percent: number): number =>
  Number.isFinite(percent)
    ? Math.min(
        MAX_TASK_PROGRESS,
        ACCEPTED_PROGRESS + Math.floor((Math.max(0, Math.min(100, percent)) * 80) / 100),
      )
    : ACCEPTED_PROGRESS;

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
