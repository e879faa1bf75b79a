import { AppError, conflict, notFound } from '@platform/service-kit';

/** The error is the same for a server that asks for no own credential, and for one that is not for the caller. */
export const serviceNotFound = (): AppError => notFound('There is no such server to connect to');
export const notConnected = (): AppError => notFound('Not connected');
export const mailNotSetUp = (): AppError =>
  new AppError({
    status: 503,
    code: 'MAIL_UNAVAILABLE',
    message: 'No mail can be sent: the mail service or the SMTP server of the organisation is not set up',
  });
/** A service account opens no page. */
export const signInNeeded = (): AppError =>
  conflict(
    'SIGN_IN_NEEDED',
    'People sign in at this server, which a service account cannot: mount it with another credential, too',
  );
export const accountNotFound = (): AppError => notFound('Service account not found');
export const signInFailed = (): AppError =>
  new AppError({
    status: 502,
    code: 'SIGN_IN_FAILED',
    message: 'The server does not let the platform sign anybody in',
  });
export const serverMoved = (origin: string): AppError =>
  conflict('SERVER_MOVED', `The server is reached at ${origin} now: look at it again`);
