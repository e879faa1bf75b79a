/** A task that is done sooner never costs a write. */
const FIRST_AFTER_MS = 100;
const EVERY_MS = 1_000;

export const ACCEPTED_PROGRESS = 20;
/** Completion alone is 100. */
const MAX_TASK_PROGRESS = 99;

/** The run's 0–100 of a task's own: what the task does lies between its acceptance and the run's end. */
export const toRunProgress = (percent: number): number =>
  Number.isFinite(percent)
    ? Math.min(
        MAX_TASK_PROGRESS,
        ACCEPTED_PROGRESS + Math.floor((Math.max(0, Math.min(100, percent)) * 80) / 100),
      )
    : ACCEPTED_PROGRESS;

/** Writes progress now and then, the latest only, never backwards. Failures don't matter: more will come. */
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
