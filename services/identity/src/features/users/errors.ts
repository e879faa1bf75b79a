import { AppError, conflict, notFound } from '@platform/service-kit';

export const userNotFound = (): AppError => notFound('User not found');
/** 503: nobody can be invited by a platform that sends no mail. */
export const mailUnavailable = (): AppError =>
  new AppError({
    status: 503,
    code: 'MAIL_UNAVAILABLE',
    message: 'No mail service is set up: give a password, or set MAIL_URL',
  });
export const emailTaken = (): AppError => conflict('EMAIL_TAKEN', 'A user with this e-mail exists already');
export const lastAdmin = (): AppError =>
  conflict('LAST_ADMIN', 'This is the last administrator: make another member one first');
export const sessionRequiredForAdmins = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message: 'Only a session can make an administrator: a token would give more than it has',
  });
export const sessionRequiredForPasswords = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message: 'Only a session can choose a password for a member: without one the member is invited',
  });
