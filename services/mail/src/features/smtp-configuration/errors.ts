import { AppError, notFound } from '@platform/service-kit';

export const configurationNotSet = (): AppError => notFound('Smtp Configuration not set');
export const configurationIncomplete = (): AppError =>
  new AppError({ status: 400, code: 'SMTP_INCOMPLETE', message: 'Smtp not configured properly' });
/** What sends isn't up: the service starts or stops. */
export const runtimeNotUp = (): AppError => notFound('Mail container not found');
