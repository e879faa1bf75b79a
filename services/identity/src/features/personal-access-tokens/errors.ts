import { AppError, notFound } from '@platform/service-kit';

/** Unknown, another's, revoked and expired: one and the same. */
export const tokenNotFound = (): AppError => notFound('Token not found');
/** A stolen token could otherwise end the token that made it, and stay alive itself. */
export const sessionRequiredToKeepDescendants = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message:
      'Only a session can use keepDescendants: a stolen token could use it to outlive the token that made it',
  });
