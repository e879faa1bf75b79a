/** The progress of a run whose worker has it (CRAWL-29). */
export const ACCEPTED_PROGRESS = 20;
/** Only a completed run has 100. */
const MAX_TASK_PROGRESS = 99;

/** Returns the progress of a run whose task has the given one (0–100): the same, once it is past the acceptance. */
export const toRunProgress = (percent: number): number =>
  Number.isFinite(percent)
    ? Math.max(ACCEPTED_PROGRESS, Math.min(MAX_TASK_PROGRESS, Math.floor(percent)))
    : ACCEPTED_PROGRESS;
