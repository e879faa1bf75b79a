import { Secret, TOTP } from 'otpauth';

/*
 * Codes of an authenticator app (RFC 6238): six digits, SHA-1, 30 seconds. Authenticator apps ignore other parameters,
 * or refuse them.
 */

const PERIOD_SECONDS = 30;
const DIGITS = 6;
/** The length of the secret, as RFC 4226 §4 recommends it. */
const SECRET_BYTES = 20;
/** The time steps before and after the current one whose code is accepted: clocks differ, and people type slowly. */
const WINDOW = 1;

/** Generates a secret, in base32. */
export const generateSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** As much of an organisation's name as an app gets; a QR code has no room for names of any length. */
const ISSUER = /^.{0,40}/su;

/** Returns the URI that an authenticator app reads from the QR code. */
export const toUri = (secret: string, label: { readonly issuer: string; readonly account: string }): string =>
  new TOTP({
    // A colon would separate the issuer from the account.
    issuer: (ISSUER.exec(label.issuer)?.[0] ?? '').replaceAll(':', ' ').trim(),
    label: label.account.replaceAll(':', ' '),
    secret: Secret.fromBase32(secret),
    digits: DIGITS,
    period: PERIOD_SECONDS,
  }).toString();

export const isTotpCode = (code: string): boolean => /^\d{6}$/.test(code);

/** Returns the time step that the code belongs to; undefined when the code is wrong at this time. */
export function findStep(secret: string, code: string, now: number): number | undefined {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), digits: DIGITS, period: PERIOD_SECONDS });
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}
