import { AppError, notFound } from '@platform/service-kit';

export const configurationNotSet = (): AppError => notFound('Smtp Configuration not set');
export const configurationIncomplete = (): AppError =>
  new AppError({ status: 400, code: 'SMTP_INCOMPLETE', message: 'Smtp not configured properly' });
/** The mail runtime is starting or stopping. */
export const runtimeNotUp = (): AppError => notFound('Mail container not found');
