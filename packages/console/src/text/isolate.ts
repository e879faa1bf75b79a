/** Letters that are written from right to left, and the characters that change the direction of what follows. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08FF\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';
/** The characters that embed, override, isolate, and end that. */
const DIRECTIONAL = /[\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Keeps the direction of a name from changing the order of the words around it, where no `<bdi>` can: in titles, labels
 * and messages. A name that runs from left to right, as the text does, stays as it is.
 */
export function isolate(name: string): string {
  if (!RIGHT_TO_LEFT.test(name)) return name;
  const closed = isBalanced(name) ? name : name.replaceAll(DIRECTIONAL, '');
  return FIRST_STRONG_ISOLATE + closed + POP_DIRECTIONAL_ISOLATE;
}

/** Returns whether every isolation in a text ends in it, as those of a text within a text do. */
function isBalanced(text: string): boolean {
  let depth = 0;
  for (const [character] of text.matchAll(DIRECTIONAL)) {
    if (character === FIRST_STRONG_ISOLATE) depth += 1;
    else if (character === POP_DIRECTIONAL_ISOLATE) depth -= 1;
    else return false;
    if (depth < 0) return false;
  }
  return depth === 0;
}

function isolateValue(value: unknown): unknown {
  if (typeof value === 'string') return isolate(value);
  return Array.isArray(value) ? value.map(isolateValue) : value;
}

function wrap(value: unknown): unknown {
  if (typeof value === 'function') return (...values: unknown[]) => value(...values.map(isolateValue));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, wrap(inner)]));
}

/** Returns texts whose functions isolate every string that they are given. Each file of texts exports these. */
export const createTexts = <Texts extends object>(texts: Texts): Texts => wrap(texts) as Texts;
