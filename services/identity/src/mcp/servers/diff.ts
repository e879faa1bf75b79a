/** One difference between two definitions. */
export interface Difference {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  /** The value as JSON; null where there is none. */
  readonly from: string | null;
  readonly to: string | null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const toJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Returns the smallest parts in which two JSON values differ. Arrays are compared as a whole. */
export function findDifferences(from: unknown, to: unknown, path = ''): Difference[] {
  if (isObject(from) && isObject(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.flatMap((key) => findDifferences(from[key], to[key], `${path}/${escape(key)}`));
  }
  const [before, after] = [toJson(from), toJson(to)];
  return before === after ? [] : [{ path, from: before, to: after }];
}
