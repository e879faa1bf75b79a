import { type Claims, readFullName, readSentEmail, readSubject, readVerifiedEmail } from './claims.js';
import { Refused, signInRefused } from './errors.js';

/** A person whom the provider has authenticated. */
export interface Person {
  readonly subject: string;
  /** Verified, and normalised. */
  readonly email: string;
  readonly fullName: string;
}

/** @throws AppError 400 SIGN_IN_REFUSED; 403 NOT_ADMITTED when the address is not verified, or is none. */
export function toPerson(issuer: string, claims: Claims): Person {
  const subject = readSubject(claims);
  if (subject === undefined) throw signInRefused(new Error('the subject is no text of 1 to 255 characters'));
  const email = readVerifiedEmail(issuer, claims);
  if (email === undefined) throw new Refused('email_not_verified', readSentEmail(claims));
  return { subject, email, fullName: readFullName(claims, email) };
}
