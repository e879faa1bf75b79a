import { type AppError, conflict } from '@platform/service-kit';

export const runInProgress = (): AppError =>
  conflict('RUN_IN_PROGRESS', 'A run of this connector is in progress already');
export const schedulePaused = (): AppError => conflict('JOB_PAUSED', 'Job is paused: resume it first');
