import type { FaultDetail } from '../../errors.js';

/**
 * The largest number of values in a body. A parsed value takes ten times the memory of its text, so a body of brackets within
 * the size limit of mails could end the process; and listing every fault of the others takes disproportionately long.
 */
const MAX_VALUES = 10_000;
/** Deeper nesting could overflow the stack of a reader. */
const MAX_DEPTH = 64;
/** Shorter strings are searched byte by byte, which is faster than a call. */
const NEAR_BYTES = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** @returns whether the byte follows an odd number of backslashes. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** Returns the position of the quote that ends the string which begins at `start`; long strings are skipped quickly. */
function findStringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    for (const near = at + NEAR_BYTES; at < near; at += 1) {
      if (bytes[at] === QUOTE) return at;
      if (bytes[at] === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) break;
    if (!isEscaped(bytes, quote)) return quote;
    at = quote + 1;
  }
  return bytes.length;
}

const toFault = (message: string): FaultDetail => ({ field: 'body', message });

/**
 * Examines a JSON text before it is parsed. The result is arbitrary for a text that is not JSON.
 *
 * @param onString - called with the positions of the quotes of each string.
 * @returns why the text must not be parsed; undefined when it may be.
 */
export function findExcess(
  bytes: Buffer,
  onString?: (start: number, end: number) => void,
): FaultDetail | undefined {
  let valueCount = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = at;
      at = findStringEnd(bytes, start);
      onString?.(start, at);
    } else if (byte === COMMA) valueCount += 1;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      valueCount += 1;
      if (depth > MAX_DEPTH) return toFault(`must not nest deeper than ${MAX_DEPTH} levels`);
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    if (valueCount > MAX_VALUES) return toFault(`must not have more than ${MAX_VALUES} values`);
  }
  return undefined;
}
