import { textFormats } from '../data/text-formats.js';
import { isObject, type Json, type JsonObject, mapObjects, mapParts } from './json.js';

const toTypeName = (value: Json): string =>
  value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;

/** Adds the type to every enum. Some generators skip operations with an enum of several types, so `anyOf` splits it. */
function typeEnum(schema: JsonObject): JsonObject {
  const { enum: values, ...rest } = schema;
  if (!Array.isArray(values)) return schema;
  const members = values as readonly Json[];
  const types = [...new Set(members.map(toTypeName))];
  const [type] = types;
  if (types.length === 1) return { type: type ?? 'string', ...schema };
  return {
    ...rest,
    anyOf: types.map((each) => ({ type: each, enum: members.filter((value) => toTypeName(value) === each) })),
  };
}

/** Removes patterns with Unicode property escapes, which some tools cannot parse; the service still checks them. */
function dropUnicodePattern(schema: JsonObject): JsonObject {
  const { pattern, ...rest } = schema;
  return typeof pattern === 'string' && /\\p\{/i.test(pattern) ? rest : schema;
}

/**
 * Adds the keywords of `x-documented` to the schema that has them: rules that the service checks by itself, in its own
 * words, or a stricter form than it accepts. What the document allows is then accepted.
 */
function addDocumented(schema: JsonObject): JsonObject {
  const { 'x-documented': rules, ...rest } = schema;
  return isObject(rules) ? { ...rest, ...rules } : schema;
}

/** Adds keywords that others know to a format of ours. */
function documentFormat(schema: JsonObject): JsonObject {
  const { format } = schema;
  return typeof format === 'string' ? { ...schema, ...textFormats[format]?.documented } : schema;
}

/** Rewrites what the tools of other languages cannot read. */
export const toPortable = (value: Json): Json =>
  mapObjects(value, (object) => documentFormat(dropUnicodePattern(typeEnum(addDocumented(object)))));

const hasDefault = (property: Json | undefined): boolean => isObject(property) && 'default' in property;

function relaxRequired(schema: JsonObject): JsonObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return schema;
  const kept = (required as readonly string[]).filter((name) => !hasDefault(properties[name]));
  if (kept.length === required.length) return schema;
  const { required: _, ...rest } = schema;
  return kept.length > 0 ? { ...rest, required: kept } : rest;
}

/**
 * Rewrites a schema for requests, in which properties with a default are optional. They are required in responses, so a
 * named schema that differs as input gets another name (`ScheduleConfig`, `ScheduleConfigInput`).
 */
export function toInput(value: Json, isMap = false): Json {
  const mapped = mapParts(value, isMap, toInput);
  if (isMap || !isObject(mapped)) return mapped;
  const input = relaxRequired(mapped);
  const { title } = input;
  const isRenamed = typeof title === 'string' && JSON.stringify(input) !== JSON.stringify(value);
  return isRenamed ? { ...input, title: `${title}Input` } : input;
}
