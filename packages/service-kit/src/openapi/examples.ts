import { isObject, type Json, type JsonObject } from './json.js';
import { examplesByName } from './example-values.js';

const examplesByFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-11-30T08:00:00.000Z',
  date: '2026-11-30',
  email: 'ada@example.com',
  'idn-email': 'ada@example.com',
  uri: 'https://example.com/path',
  uuid: '01990000-0000-7000-8000-000000000001',
};

const isSchemaOf = (type: string, schema: JsonObject): boolean =>
  schema['type'] === type || (Array.isArray(schema['type']) && schema['type'].includes(type));

function createNumber({ minimum, maximum }: JsonObject, named: Json | undefined): number {
  const least = typeof minimum === 'number' ? minimum : 0;
  const wanted = typeof named === 'number' ? named : Math.max(least, 1);
  return Math.max(least, typeof maximum === 'number' ? Math.min(wanted, maximum) : wanted);
}

function createText(schema: JsonObject, named: Json | undefined): string {
  const { format, minLength, maxLength } = schema;
  const byFormat = typeof format === 'string' ? examplesByFormat[format] : undefined;
  const text = byFormat ?? (typeof named === 'string' ? named : 'text');
  const padded = typeof minLength === 'number' ? text.padEnd(minLength, 'x') : text;
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
}

/** Returns the named list if its items have the type of the schema's. */
const createList = (items: Json, named: Json | undefined): Json | undefined =>
  Array.isArray(named) && isObject(items) && isSchemaOf(typeof named[0], items) ? named : undefined;

/** An input shows what is required, and everything where nothing is; an output shows everything. */
function createObject(schema: JsonObject, isInput: boolean): Json {
  const properties = Object.entries((schema['properties'] ?? {}) as JsonObject);
  const required = (schema['required'] ?? []) as readonly string[];
  const shown = properties.filter(
    ([name, property]) =>
      !isInput ||
      required.length === 0 ||
      required.includes(name) ||
      (isObject(property) && 'examples' in property),
  );
  return Object.fromEntries(shown.map(([name, property]) => [name, createExample(property, isInput, name)]));
}

/**
 * Creates an example of a schema: its own one, a value that it lists, or one made of its parts. A text without a form is that
 * of the property's name.
 *
 * @param isInput - whether the service reads it; then it has no fields that may be left out.
 */
export function createExample(schema: Json, isInput: boolean, name = ''): Json {
  if (!isObject(schema)) return null;
  const own = schema['examples'] ?? schema['enum'];
  if (Array.isArray(own)) return own[0] as Json;
  for (const keyword of ['example', 'const', 'default'])
    if (keyword in schema) return schema[keyword] as Json;
  for (const keyword of ['anyOf', 'oneOf']) {
    const choices = schema[keyword];
    if (!Array.isArray(choices)) continue;
    const [first = null] = (choices as readonly Json[]).filter(
      (choice) => !isObject(choice) || choice['type'] !== 'null',
    );
    // A choice may be further rules for the same object.
    return createExample(
      isObject(first) && !('properties' in schema) ? first : { ...schema, [keyword]: null },
      isInput,
      name,
    );
  }
  const named = examplesByName[name];
  if (isSchemaOf('object', schema) || 'properties' in schema)
    return 'properties' in schema || !isObject(named) ? createObject(schema, isInput) : named;
  if (isSchemaOf('array', schema))
    return createList(schema['items'] ?? {}, named) ?? [createExample(schema['items'] ?? {}, isInput, name)];
  if (isSchemaOf('string', schema)) return createText(schema, named);
  if (isSchemaOf('integer', schema) || isSchemaOf('number', schema)) return createNumber(schema, named);
  if (isSchemaOf('boolean', schema)) return typeof named === 'boolean' ? named : true;
  return isSchemaOf('null', schema) ? null : (named ?? {});
}
