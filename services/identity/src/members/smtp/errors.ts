import { type AppError, notFound, validationError } from '@platform/service-kit';

export const smtpConfigNotFound = (): AppError => notFound('Smtp Configuration not set');
export const passwordWithoutUsername = (): AppError =>
  validationError([{ field: 'username', message: 'is required with a password' }]);
