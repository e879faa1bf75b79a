import { text } from '#text/shared';
import type { Problem } from '../api/problem.ts';
import { isolate } from '../text/isolate.ts';

interface Fault {
  /** A path such as `allowList.0`; empty where the platform names no field. */
  readonly field: string;
  readonly message: string;
}

const RULES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/must match format "email"/, text.faults.email],
  [/must match format "(?:uri|url)"/, text.faults.url],
  [/must match pattern .*/, text.faults.pattern],
  [/must NOT have fewer than 1 (?:characters|items)/, text.faults.required],
  [/must be given again\b.*/, text.faults.givenAgain],
  [/must NOT/, text.faults.mustNot],
];

const toWords = (message: string): string =>
  RULES.reduce((words, [pattern, better]) => words.replace(pattern, better), message);

const toSentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;

/** The name of the form's field that a fault is about. The fields of these objects are in one form with the others. */
export const getFieldName = ({ field }: Fault): string =>
  field
    .replace(/^body\./, '')
    .replace(/^(?:auth|credential|scheduleConfig)\./, '')
    .split('.')[0] ?? '';

/** The fields that conflicts are about, by the codes of these. */
const FIELDS: Readonly<Record<string, string>> = {
  EMAIL_TAKEN: 'email',
  NAME_TAKEN: 'name',
  DOMAIN_TAKEN: 'domain',
};

/** Lists what the platform finds wrong with single fields. */
export function findFaults({ code, message, details }: Problem): readonly Fault[] {
  const field = FIELDS[code];
  return field === undefined ? details : [{ field, message }];
}

/** Says what is wrong, for a note below a form: the field is named as its path reads. */
export function describeFault(fault: Fault): string {
  const name = getFieldName(fault)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return toSentence(`${name} ${toWords(fault.message)}`.trim());
}

/** The separators of the values of a field that holds several. A rule is two words, on a separate line. */
const WORDS = /[\s,]+/;
const LINES = /\s*\n\s*/;

/** Says what is wrong beside the field itself. Of a field that holds several values, the wrong one is quoted. */
export function describeFaultAtField(fault: Fault, typed: string): string {
  const [, index] = fault.field.replace(/^body\./, '').split('.');
  const separator = getFieldName(fault) === 'rules' ? LINES : WORDS;
  const value = /^\d+$/.test(index ?? '') ? typed.split(separator).filter(Boolean)[Number(index)] : undefined;
  const words = toWords(fault.message);
  return toSentence(value === undefined ? words : `“${isolate(value)}” ${words}`);
}
