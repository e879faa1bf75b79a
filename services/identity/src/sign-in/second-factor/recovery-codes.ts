import { randomBytes } from 'node:crypto';
import { toDigest } from '@platform/auth';

/** As many as a person can keep on paper. */
const COUNT = 10;

/** Letters and digits that cannot be mistaken for one another; 32 of them are five bits each (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 80 bits: a plain hash of a code cannot be reversed, and nobody guesses one. */
const LENGTH = 16;

function generateCode(): string {
  const code = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return code.replaceAll(/.{4}(?=.)/g, '$&-');
}

/** Generates a set of codes as they are shown, once. */
export const generateRecoveryCodes = (): string[] => Array.from({ length: COUNT }, generateCode);

/** Returns the digest that a code is stored under, however it was typed; undefined for a text that is no code. */
export function toRecoveryDigest(typed: string): string | undefined {
  const code = typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return code.length === LENGTH ? toDigest(code) : undefined;
}
