import type { FaultDetail } from '../../errors.js';

/** The largest number of values in a body. Beyond it, parsing and listing every fault become disproportionately slow. */
const MAX_VALUES = 10_000;
/** Deeper nesting could overflow the stack of a reader. */
const MAX_DEPTH = 64;
/** Shorter strings are searched byte by byte, which is faster than a call. */
const NEAR_BYTES = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
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

/** Properties of a JSON text that are determined without parsing it. */
export interface JsonShape {
  /** The number of members of all objects, repeated names included. */
  readonly memberCount: number;
  /** Why the text must not be parsed; undefined when it may be. */
  readonly fault: FaultDetail | undefined;
}

const fault = (message: string): FaultDetail => ({ field: 'body', message });

/** Examines a JSON text before it is parsed. The result is arbitrary for a text that is not JSON. */
export function readJsonShape(bytes: Buffer): JsonShape {
  let memberCount = 0;
  let separatorCount = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at);
    else if (byte === COLON) memberCount += 1;
    else if (byte === COMMA) separatorCount += 1;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      separatorCount += 1;
      if (depth > MAX_DEPTH)
        return { memberCount, fault: fault(`must not nest deeper than ${MAX_DEPTH} levels`) };
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    if (separatorCount > MAX_VALUES)
      return { memberCount, fault: fault(`must not have more than ${MAX_VALUES} values`) };
  }
  return { memberCount, fault: undefined };
}

/**
 * Finds a name that occurs twice in one object. `JSON.parse` keeps the last value and other parsers the first, so that
 * two readers may disagree.
 *
 * @param memberCount of the text that `value` was parsed from
 */
export function findRepeatedName(memberCount: number, value: unknown): FaultDetail | undefined {
  let count = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const node = pending.pop();
    if (node === null || typeof node !== 'object') continue;
    const children: unknown[] = Object.values(node);
    if (!Array.isArray(node)) count += children.length;
    for (const child of children) if (typeof child === 'object') pending.push(child);
  }
  return count === memberCount ? undefined : fault('has a key twice');
}
