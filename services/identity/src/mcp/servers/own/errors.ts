import { AppError, conflict, notFound } from '@platform/service-kit';

/** The error is the same for a server that asks for no own credential, and for one that is not for the caller. */
export const serviceNotFound = (): AppError => notFound('There is no such server to connect to');
export const notConnected = (): AppError => notFound('Not connected');
export const accountNotFound = (): AppError => notFound('Service account not found');
export const signInFailed = (): AppError =>
  new AppError({
    status: 502,
    code: 'SIGN_IN_FAILED',
    message: 'The server does not let the platform sign anybody in',
  });
export const serverMoved = (origin: string): AppError =>
  conflict('SERVER_MOVED', `The server is reached at ${origin} now: look at it again`);
