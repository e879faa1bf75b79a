import { type AppError, conflict, notFound } from '@platform/service-kit';

/** The error is the same for an account that is unknown, was removed, or belongs to another organisation. */
export const accountNotFound = (): AppError => notFound('Service account not found');
export const accountOfApplication = (): AppError =>
  conflict('APPLICATION_ACCOUNT', 'The account belongs to an application: change or remove that one');
