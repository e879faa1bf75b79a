import { createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import type { BoxKey } from '../../secret-box.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long each works, in milliseconds. */
export const secretLifetimes = {
  login_code: 10 * MINUTE,
  password_reset: HOUR,
  invitation: 7 * DAY,
} as const;
export type SecretPurpose = keyof typeof secretLifetimes;
export type LinkPurpose = Exclude<SecretPurpose, 'login_code'>;

/** Wrong guesses at the codes of one address in a day, from all networks together. */
export const WRONG_CODES_PER_DAY = 30;
export const WRONG_CODES_WINDOW_MS = DAY;

/** Six digits, to be typed. */
export const generateCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** 256 bits: nobody guesses it. */
export const generateToken = (): string => randomBytes(32).toString('base64url');

/** The stored forms of a code: the first is written, all are recognised. */
export type CodeDigests = (code: string, email: string) => readonly [string, ...string[]];

/**
 * A million codes are hashed in a moment, so a plain hash of one hides nothing from whoever reads the
 * database: the hash is keyed, with what only the service knows, and bound to the address. All keys
 * are recognised, so that a code outlives the rotation of ENCRYPTION_KEYS.
 */
export function createCodeDigests(keys: readonly BoxKey[]): CodeDigests {
  const derived = keys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'one-time code', 32)));
  return (code, email) =>
    derived.map((key) => createHmac('sha256', key).update(`${code} ${email}`).digest('base64url')) as [
      string,
      ...string[],
    ];
}
