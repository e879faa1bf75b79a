import { createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import type { BoxKey } from '@platform/service-kit';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The lifetime of each kind of secret, in milliseconds. */
export const secretLifetimes = {
  login_code: 10 * MINUTE,
  password_reset: HOUR,
  invitation: 7 * DAY,
} as const;
export type SecretPurpose = keyof typeof secretLifetimes;
export type LinkPurpose = Exclude<SecretPurpose, 'login_code'>;

/** The limit of wrong guesses at the codes of one address in a day, from all networks together. */
export const WRONG_CODES_PER_DAY = 30;
export const WRONG_CODES_WINDOW_MS = DAY;

/** Generates a code of six digits, short enough to type. */
export const generateCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** Generates a token of 256 random bits, which can't be guessed. */
export const generateToken = (): string => randomBytes(32).toString('base64url');

/** Returns the digests of a code, one for each key: the first one is stored, any of them is accepted. */
export type CodeDigests = (code: string, email: string) => readonly [string, ...string[]];

/**
 * There are only a million codes, so a plain hash could be reversed by anyone who reads the database. The digest is
 * therefore keyed with a secret of the service and bound to the address. Digests under older keys are accepted, so that
 * a code outlives a rotation of ENCRYPTION_KEYS.
 */
export function createCodeDigests(keys: readonly BoxKey[]): CodeDigests {
  const derived = keys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'one-time code', 32)));
  return (code, email) =>
    derived.map((key) => createHmac('sha256', key).update(`${code} ${email}`).digest('base64url')) as [
      string,
      ...string[],
    ];
}
