import { readFileSync } from 'node:fs';
import { parseUrl } from '../parse-url.js';

/** One variable of the environment: how it is parsed, and its value when it is absent. */
export interface Variable<T> {
  /** The expected form of the value, for errors and the documentation: "a port from 1 to 65535". */
  readonly mustBe: string;
  /** @returns undefined when the text does not have the expected form. */
  parse(text: string): T | undefined;
  readonly fallback?: { readonly value: T };
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;
export type Values<V extends Variables> = {
  readonly [K in keyof V]: V[K] extends Variable<infer T> ? T : never;
};

/** Reports every fault of the environment at once. The text never repeats a value, which may be a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: readonly string[]) {
    super(`The environment is not right:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

function readText(env: NodeJS.ProcessEnv, name: string, faults: string[]): string | undefined {
  const direct = env[name] === '' ? undefined : env[name];
  const file = env[`${name}_FILE`];
  if (!file) return direct;
  if (direct !== undefined) {
    faults.push(`${name} and ${name}_FILE are both set: keep one`);
    return undefined;
  }
  try {
    // An empty file counts as absent, like an empty variable.
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch {
    faults.push(`${name}_FILE names a file that can't be read`);
    return undefined;
  }
}

/**
 * Reads the configuration once, at start. Each variable can also be given as `NAME_FILE`, the
 * path of a file that holds the value (mounted secrets).
 *
 * @param findContradictions - returns the faults between variables. It sees only the values that are valid by themselves.
 * @throws {@link ConfigError} naming every variable that is missing or invalid.
 */
export function loadConfig<V extends Variables>(
  env: NodeJS.ProcessEnv,
  variables: V,
  findContradictions: (values: Partial<Values<V>>) => readonly string[] = () => [],
): Values<V> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables)) {
    const faultsBefore = faults.length;
    const text = readText(env, name, faults);
    if (faults.length > faultsBefore) continue;
    if (text === undefined) {
      if (variable.fallback) values[name] = variable.fallback.value;
      else faults.push(`${name} is missing: it must be ${variable.mustBe}`);
      continue;
    }
    const value = variable.parse(text);
    if (value === undefined) faults.push(`${name} must be ${variable.mustBe}`);
    else values[name] = value;
  }
  faults.push(...findContradictions(values as Partial<Values<V>>));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(values) as Values<V>;
}

/** Gives a variable a default for when it is absent. */
export const withDefault = <T, D>(variable: Variable<T>, value: D): Variable<T | D> => ({
  mustBe: variable.mustBe,
  parse: (text) => variable.parse(text),
  fallback: { value },
});

export const text = (mustBe = 'a non-empty text'): Variable<string> => ({ mustBe, parse: (value) => value });

export const integer = (min: number, max: number, mustBe?: string): Variable<number> => ({
  mustBe: mustBe ?? `a whole number from ${min} to ${max}`,
  parse(value) {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

export const port = (): Variable<number> =>
  integer(0, 65_535, 'a TCP port from 0 to 65535 (0: any free one)');

export const oneOf = <const T extends string>(...allowed: readonly T[]): Variable<T> => ({
  mustBe: `one of ${allowed.join(', ')}`,
  parse: (value) => allowed.find((candidate) => candidate === value),
});

export const url = (protocols: readonly string[], example: string): Variable<string> => ({
  mustBe: `a URL such as ${example}`,
  parse(value) {
    const protocol = parseUrl(value)?.protocol;
    return protocol !== undefined && protocols.includes(protocol) ? value.replace(/\/$/, '') : undefined;
  },
});

/** The address of a site: without a path, because the platform's own paths begin at its root. */
export const origin = (protocols: readonly string[], example: string): Variable<string> => ({
  mustBe: `a URL without a path, such as ${example}`,
  parse(value) {
    const address = URL.parse(value);
    if (!address || !protocols.includes(address.protocol)) return undefined;
    // The address is its origin and a slash: nothing else is in it.
    return address.href === `${address.origin}/` ? address.origin : undefined;
  },
});

/** Parses a comma-separated list; blanks around the items and empty items are dropped. */
export const list = (mustBe: string): Variable<readonly string[]> => ({
  mustBe,
  parse: (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
});

/** A comma-separated list. @param parseItem - returns undefined for an item that is invalid, which rejects the list. */
export const parsedList = <T>(
  mustBe: string,
  parseItem: (item: string) => T | undefined,
): Variable<readonly T[]> => ({
  mustBe: `a comma-separated list of ${mustBe}`,
  parse(value) {
    const items = (list('').parse(value) ?? []).map(parseItem);
    return items.every((item) => item !== undefined) ? items : undefined;
  },
});
