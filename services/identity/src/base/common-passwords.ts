import { type AppError, validationError } from '@platform/service-kit';
import { dictionary } from '@zxcvbn-ts/language-common';

/*
 * Passwords that whoever guesses tries first: the most frequent of those that became public in breaches, and the names that
 * stand around the account. Case counts for nothing, and neither do a few digits and signs before or after.
 */

/** Some 49,000 passwords, of which 18,000 have eight characters or more. */
const common: ReadonlySet<string> = new Set(dictionary['passwords-common']);
/** As many digits and signs around a common word make no other password of it: `Summer2026!`. */
const MAX_PADDING = 8;
const MIN_WORD_LENGTH = 3;

/** Whose password it is: names that others know. */
export interface PasswordOwner {
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly organisation?: string | undefined;
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();
/** Leaves letters and digits. */
const squeeze = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, '');

function listWords({ email, fullName = '', organisation = '' }: PasswordOwner): ReadonlySet<string> {
  const [local = '', domain = ''] = email.split('@');
  const names = [local, fullName, organisation].flatMap((name) => [name, ...name.split(/[^\p{L}\p{N}]+/u)]);
  const words = [...names, email, domain, domain.split('.')[0] ?? ''].map(squeeze);
  return new Set(words.filter((word) => word.length >= MIN_WORD_LENGTH));
}

/** Returns the password without the digits and signs around it, when they are few. */
function toCore(folded: string): string {
  const core = folded.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
  return folded.length - core.length <= MAX_PADDING && core.length >= MIN_WORD_LENGTH ? core : folded;
}

/** Returns whether the password is among the most common ones. */
export function isCommonPassword(password: string): boolean {
  const folded = fold(password);
  return common.has(folded) || common.has(toCore(folded));
}

/** Returns what is wrong with the password; undefined when it is neither common nor a name that others know. */
export function findPasswordFault(password: string, owner: PasswordOwner): string | undefined {
  if (isCommonPassword(password)) return 'is among the passwords that are tried first: choose another one';
  const words = listWords(owner);
  if (words.has(squeeze(password)) || words.has(squeeze(toCore(fold(password)))))
    return 'must not be a name, the e-mail address or the organisation: choose another one';
  return undefined;
}

export const passwordRefused = (field: string, fault: string): AppError =>
  validationError([{ field, message: fault }], `The password ${fault}`);

/** @throws AppError 400 VALIDATION_ERROR for the field. */
export function assertUncommonPassword(field: string, password: string, owner: PasswordOwner): void {
  const fault = findPasswordFault(password, owner);
  if (fault !== undefined) throw passwordRefused(field, fault);
}
