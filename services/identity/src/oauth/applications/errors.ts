import { type AppError, conflict, notFound } from '@platform/service-kit';

/** The error is the same for an application that is unknown, was removed, or belongs to another organisation. */
export const applicationNotFound = (): AppError => notFound('Application not found');
export const secretNotFound = (): AppError => notFound('Secret not found');
export const tooManySecrets = (): AppError =>
  conflict('TOO_MANY_SECRETS', 'An application has two secrets at most: revoke one first');
export const noSecrets = (): AppError =>
  conflict('NO_SECRETS', 'The application authenticates without a secret');
