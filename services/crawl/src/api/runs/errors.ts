import { type AppError, conflict, notFound } from '@platform/service-kit';

export const runNotFound = (): AppError => notFound('Run not found');
export const runEnded = (): AppError => conflict('RUN_ENDED', 'The run has ended already');
export const schedulePaused = (): AppError => conflict('JOB_PAUSED', 'Job is paused: resume it first');
