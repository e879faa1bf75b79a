import { AppError, conflict, tooManyRequests } from '@platform/service-kit';
import { unauthorised } from '../sessions/errors.js';

const wrongCode = 'This code is wrong or was used before';
const wrongPasskey = 'This passkey was not accepted: try again';
type Fault = 'refused' | 'wrong' | 'lastWrong';

export const wrongSecondFactor = (fault: Fault): AppError =>
  unauthorised('SECOND_FACTOR_INVALID', fault === 'refused' ? wrongPasskey : wrongCode);

/** A factor at a change of the own second factor. It is no 401: the session is good. */
export const wrongOwnFactor = (fault: Fault): AppError =>
  new AppError({
    status: 400,
    code: 'SECOND_FACTOR_INVALID',
    message: fault === 'refused' ? wrongPasskey : wrongCode,
  });

export const ownFactorRequired = (): AppError =>
  new AppError({
    status: 400,
    code: 'SECOND_FACTOR_REQUIRED',
    message: 'A passkey, a code of your authenticator app or a recovery code is required',
  });

/** The challenge is unknown, expired or used, or the password has changed since. */
export const signInExpired = (): AppError =>
  unauthorised('SIGN_IN_EXPIRED', 'This sign-in has expired: begin again');

export const codesExhausted = (retryAfterSeconds: number): AppError =>
  tooManyRequests(
    retryAfterSeconds,
    'Too many wrong codes in a day: use a recovery code, or try again tomorrow',
  );

/** An enrolment belongs to the session or sign-in that began it, for ten minutes. */
export const enrolmentExpired = (): AppError =>
  new AppError({
    status: 400,
    code: 'ENROLMENT_EXPIRED',
    message: 'This set-up has expired: begin it again',
  });

/** A code at the set-up of an authenticator app, which shows that the app has the secret. */
export const wrongFirstCode = (): AppError =>
  new AppError({
    status: 400,
    code: 'SECOND_FACTOR_INVALID',
    message: 'This code is wrong: check the clock of your device',
  });

export const noSecondFactor = (): AppError =>
  conflict('NO_SECOND_FACTOR', 'The account has no second factor');

export const lastSecondFactor = (): AppError =>
  conflict('LAST_SECOND_FACTOR', 'Your organisation requires a second factor: set up another one first');

export const ownSecondFactor = (): AppError =>
  conflict('OWN_SECOND_FACTOR', 'Your own second factor is changed on your own security page');
