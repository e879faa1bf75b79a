import { AppError, conflict, notFound } from '@platform/service-kit';
import { unauthorised } from '../sessions/errors.js';
import { MAX_PASSKEYS } from './queries.js';

export const passkeysUnavailable = (): AppError =>
  conflict('PASSKEYS_UNAVAILABLE', 'Passkeys need HTTPS and a host name in the address of the platform');

/** The challenge is unknown, expired or used, or the device has signed something else. */
export const passkeyInvalid = (): AppError =>
  new AppError({
    status: 400,
    code: 'PASSKEY_INVALID',
    message: 'This passkey could not be set up: begin again',
  });

export const passkeyExists = (): AppError => conflict('PASSKEY_EXISTS', 'This passkey is set up already');

export const passkeyLimit = (): AppError =>
  conflict('PASSKEY_LIMIT', `An account has ${MAX_PASSKEYS} passkeys at most: remove one first`);

export const noPasskey = (): AppError => conflict('NO_PASSKEY', 'The account has no passkey');

export const passkeyNotFound = (): AppError => notFound('Passkey not found');

/**
 * A passkey that does not sign in. The error is the same for one that no account has, for a wrong signature, for a device that has
 * not verified the person, and for a page that was open for too long.
 */
export const passkeyRefused = (): AppError =>
  unauthorised('PASSKEY_REFUSED', 'This passkey did not sign you in: try again, or use your password');
