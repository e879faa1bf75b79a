import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/*
 * JSON of others that is stored or passed on as it came. JSON.parse rounds a number that a double cannot hold, such as
 * 1234567890123456789, and turns 1e400 into Infinity, which JSON.stringify writes as null.
 *
 * All functions take a text that JSON.parse accepts; for any other text their result is arbitrary.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Keeps the text of the JSON body for {@link getBodyText}. */
    readonly keepsBodyText?: boolean;
  }
}

const bodyTexts = new WeakMap<FastifyRequest, string>();

export function keepBodyText(request: FastifyRequest, text: string): void {
  if (request.routeOptions.config.keepsBodyText === true) bodyTexts.set(request, text);
}

/** Returns the JSON body as it was sent; undefined without a body, or on a route without `config: {keepsBodyText: true}`. */
export const getBodyText = (request: FastifyRequest): string | undefined => bodyTexts.get(request);

const WHITESPACE = /[ \t\n\r]/;
const SCALAR_END = /[,\]} \t\n\r]/;

function skipWhitespace(text: string, start: number): number {
  let at = start;
  while (WHITESPACE.test(text.charAt(at))) at += 1;
  return at;
}

/** Returns the position after the string that begins at `start`. */
function skipString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === '\\') first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Returns the position after the value that begins at `start`. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length;) {
    const character = text[at];
    if (character === '"') at = skipString(text, at);
    else at += 1;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    const isScalar = depth === 0 && character !== '"' && character !== '}' && character !== ']';
    if (depth === 0 && (!isScalar || SCALAR_END.test(text.charAt(at)))) return at;
  }
  return text.length;
}

/**
 * Returns the members of an object by name, each byte for byte; of a key that is repeated, the last one, as JSON.parse does.
 * Anything but an object has none.
 */
export function readJsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipWhitespace(text, 0);
  if (text[at] !== '{') return members;
  for (at = skipWhitespace(text, at + 1); text[at] === '"'; at = skipWhitespace(text, at + 1)) {
    const keyEnd = skipString(text, at);
    const start = skipWhitespace(text, skipWhitespace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.set(JSON.parse(text.slice(at, keyEnd)) as string, text.slice(start, end));
    at = skipWhitespace(text, end);
  }
  return members;
}

/** Returns the elements of an array, each byte for byte. Anything but an array has none. */
export function readJsonElements(text: string): string[] {
  const elements: string[] = [];
  let at = skipWhitespace(text, 0);
  if (text[at] !== '[') return elements;
  for (at = skipWhitespace(text, at + 1); at < text.length && text[at] !== ']'; at += 1) {
    const start = skipWhitespace(text, at);
    const end = skipValue(text, start);
    elements.push(text.slice(start, end));
    at = skipWhitespace(text, end);
    if (text[at] === ']') break;
  }
  return elements;
}

/** Writes an object whose members stand as they are. */
export const writeJsonMembers = (members: Iterable<readonly [name: string, text: string]>): string =>
  `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/**
 * Returns the value at a path of a JSON text, byte for byte; undefined when there is none.
 *
 * @param path - the names of members, from the outermost object on.
 */
export function readJsonText(text: string, path: readonly string[]): string | undefined {
  let value: string | undefined = text;
  for (const name of path) value = value === undefined ? undefined : readJsonMembers(value).get(name);
  return value;
}

const NUMBER = /(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
/** A decimal of so many characters, without an exponent, is always held exactly enough to be written the same again. */
const MAX_EXACT_LENGTH = 15;

/** Returns the same text for all spellings of a number, such as 1.50 and 15e-1. */
function toCanonicalNumber(number: string): string {
  NUMBER.lastIndex = 0;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function isExactNumber(number: string): boolean {
  if (number.length <= MAX_EXACT_LENGTH && !/[eE]/.test(number)) return true;
  const value = Number(number);
  return Number.isFinite(value) && toCanonicalNumber(String(value)) === toCanonicalNumber(number);
}

/** Yields the positions of the numbers that JavaScript would write as others, such as 1e400. */
function* findInexactNumbers(text: string): Generator<readonly [start: number, end: number]> {
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    if (character === '"') at = skipString(text, at);
    else if (/[-\d]/.test(character)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? character;
      const end = at + number.length;
      if (!isExactNumber(number)) yield [at, end];
      at = end;
    } else at += 1;
  }
}

/** Returns the first number that JavaScript would write as another one, such as 1e400; undefined when there is none. */
export function findInexactNumber(text: string): string | undefined {
  const [found] = findInexactNumbers(text);
  return found && text.slice(...found);
}

/** A value that {@link stringifyJson} writes as this JSON text. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Writes JSON like JSON.stringify, in which each {@link JsonText} stands as it is. */
export function stringifyJson(value: unknown): string {
  const texts: string[] = [];
  // Random, so that no string of the value can be taken for it.
  const mark = randomUUID();
  const json = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof JsonText ? `${mark}${texts.push(member.text) - 1}` : member,
  );
  if (texts.length === 0) return json;
  return json.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_match, index) => texts[Number(index)] ?? '');
}

/**
 * Reads JSON like JSON.parse, in which each number that JavaScript would write as another one is a {@link JsonText}, so that
 * {@link stringifyJson} writes it as it was.
 *
 * @throws SyntaxError. RangeError for a text that nests thousands of levels deep.
 */
export function parseJson(text: string): unknown {
  const inexact = [...findInexactNumbers(text)];
  if (inexact.length === 0) return JSON.parse(text);
  // Random, so that no string of the text can be taken for a number.
  const mark = randomUUID();
  let marked = '';
  let copied = 0;
  for (const [start, end] of inexact) {
    marked += `${text.slice(copied, start)}"${mark}${text.slice(start, end)}"`;
    copied = end;
  }
  return JSON.parse(marked + text.slice(copied), (_key, member: unknown) =>
    typeof member === 'string' && member.startsWith(mark) ? new JsonText(member.slice(mark.length)) : member,
  );
}
