import { AppError, conflict, notFound } from '@platform/service-kit';

export const userNotFound = (): AppError => notFound('User not found');
/** Members can't be invited while there is no mail service. */
export const mailUnavailable = (): AppError =>
  new AppError({
    status: 503,
    code: 'MAIL_UNAVAILABLE',
    message: 'No mail service is set up: give a password, or set MAIL_URL',
  });
const EMAIL_TAKEN = 'EMAIL_TAKEN';
/** The error is the same whichever other organisation the address is taken in, so that it doesn't reveal which. */
export const emailTaken = (): AppError => conflict(EMAIL_TAKEN, 'This e-mail address cannot be used');
/** The address is taken in the organisation itself, whose administrators see its members anyway. */
export const emailTakenHere = (isInvited: boolean): AppError =>
  conflict(
    EMAIL_TAKEN,
    isInvited
      ? 'This address is invited already: send that invitation again, or cancel it first'
      : 'A member has this address already',
  );
export const isEmailTaken = (error: unknown): boolean =>
  error instanceof AppError && error.code === EMAIL_TAKEN;
export const invitationAccepted = (): AppError =>
  conflict('INVITATION_ACCEPTED', 'The member has accepted the invitation already');
export const lastAdmin = (): AppError =>
  conflict(
    'LAST_ADMIN',
    'This is the last administrator who can log in: make another member one first; an invitation counts once it is accepted',
  );
export const sessionRequiredForAdmins = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message: 'Only a session can change a role or remove an administrator: a token could lock others out',
  });
