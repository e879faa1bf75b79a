import { hash } from 'node:crypto';
import { JsonText, parseJson, stringifyJson } from '@platform/service-kit';

/** The JSON Schema of an object. Numbers that JavaScript can't hold are JSON texts. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** The parts of a tool that are pinned: everything that a model or its host reads. Icons are dropped. */
export interface Definition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations?: {
    readonly title?: string;
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  /** The members that are passed on. Hosts read them, and so they are approved with the rest. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A definition as it is stored. */
export interface PinnedDefinition {
  readonly name: string;
  readonly json: string;
  readonly hash: string;
}

/** The same for every order of an object's keys. */
function toCanonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCanonical);
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, toCanonical(field)]),
  );
}

export const pinDefinition = (definition: Definition): PinnedDefinition => ({
  name: definition.name,
  json: stringifyJson(definition),
  hash: hash('sha256', stringifyJson(toCanonical(definition)), 'base64url'),
});

export const parseDefinition = (json: string): Definition => parseJson(json) as Definition;
