import type { Route } from './operation.js';

type Values = Readonly<Record<string, unknown>>;

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value that can't be a segment of a path: dot segments and empty ones would change the path. */
export class InvalidSegment extends TypeError {
  override readonly name = 'TypeError';
  constructor(readonly field: string) {
    super(`${field} can't be part of a path: it must be a text that is not empty, "." or ".."`);
  }
}

function toSegment(name: string, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  const isSegment = typeof text === 'string' && !['', '.', '..'].includes(text) && text.isWellFormed();
  if (!isSegment) throw new InvalidSegment(name);
  return encodeURIComponent(text);
}

/**
 * Builds the path and query of a call.
 *
 * @throws InvalidSegment for a path parameter that is missing or can't be a segment of a path.
 */
export function requestTarget({ path }: Route, parameters: Values = {}, query: Values = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => toSegment(name, parameters[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.append(name, toText(value));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}
