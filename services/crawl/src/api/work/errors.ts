import { AppError, conflict, notFound, validationError } from '@platform/service-kit';

export const leaseLost = (): AppError =>
  conflict('LEASE_LOST', 'The lease is lost: another worker has the run, or it has ended');
export const workNotFound = (): AppError => notFound('Run not found');
export const tooManyWaiting = (): AppError =>
  new AppError({
    status: 429,
    code: 'TOO_MANY_WAITING',
    message: 'Too many workers of the organisation wait for a run already',
  });
export const continueRefused = (): AppError =>
  validationError([{ field: 'state', message: 'must not be continue: an endpoint has no slices' }]);
export const invalidCheckpoint = (message: string): AppError =>
  validationError([{ field: 'checkpoint', message }]);
