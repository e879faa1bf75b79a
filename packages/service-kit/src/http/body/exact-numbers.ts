import type { FaultDetail } from '../../errors.js';

/*
 * Numbers in JSON have any size, those in JavaScript 64 bits: 1e400 is read as Infinity, and 12345678901234567890 as
 * a different number, which would be stored as if the client had sent it. A body with such a number is therefore
 * rejected.
 */

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** A double represents any number of so many digits with an exponent of two digits. */
const SAFE = /^-?(?=(?:\D*\d){1,15}\D*$)[\d.]+$/;
const MAX_SHOWN_LENGTH = 40;

/** @returns the digits without leading and trailing zeros, and the power of ten of the last one. */
function toDigits(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  // A pattern such as /0+$/ would take quadratic time for zeros inside of the number.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Returns whether JavaScript reads exactly the number that was written. */
const isKept = (number: string): boolean =>
  SAFE.test(number) || toDigits(number) === toDigits(String(Number(number)));

/** @returns the position after the string that begins at `start`. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

/** @returns the fault of the first number that cannot be represented. @param json - valid JSON. */
export function findInexactNumber(json: string): FaultDetail | undefined {
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    for (const [number] of json.slice(at, end).matchAll(NUMBER))
      if (!isKept(number))
        return {
          field: 'body',
          message: `has a number that cannot be kept exactly: ${number.slice(0, MAX_SHOWN_LENGTH)}. Send it as text`,
        };
    at = quote < 0 ? end : findStringEnd(json, quote);
  }
  return undefined;
}
