import { AppError, conflict, type FaultDetail, validationError } from '@platform/service-kit';

/* CRAWL-9, CRAWL-10 and CRAWL-18 fix these messages. */

const refused = (code: string, message: string): AppError => new AppError({ status: 400, code, message });

export const invalidSchedule = (faults: readonly FaultDetail[]): AppError =>
  validationError(faults, 'Invalid schedule configuration');
export const disabledJob = (): AppError => refused('JOB_DISABLED', 'Cannot schedule a disabled job');
export const timeNotInFuture = (): AppError =>
  refused('TIME_NOT_IN_FUTURE', 'Scheduled time must be in the future');
export const untilNotInFuture = (): AppError =>
  validationError([{ field: 'until', message: 'must be in the future' }]);
export const nothingToPause = (): AppError => refused('NO_ACTIVE_JOB', 'No active job found to pause');
export const alreadyPaused = (): AppError => refused('ALREADY_PAUSED', 'Job is already paused');
export const nothingToResume = (): AppError => refused('NO_PAUSED_JOB', 'No paused job found to resume');
export const runInProgress = (): AppError =>
  conflict('RUN_IN_PROGRESS', 'A run of this connector is in progress already');
