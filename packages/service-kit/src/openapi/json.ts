export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a plain copy of the value as JSON will send it. */
export const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? {})) as Json;

/** Keywords whose value is data, even if it looks like a schema. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Keywords whose value is a map, in which the keys are names rather than keywords. */
const MAPS = new Set(['$defs', 'content', 'headers', 'patternProperties', 'properties', 'responses']);

export type Descend = (item: Json, isMap: boolean) => Json;

/** Returns a copy in which `descend` has replaced each part that may contain schemas. */
export function mapParts(value: Json, isMap: boolean, descend: Descend): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => descend(item, false));
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(([key, item]) =>
    !isMap && DATA.has(key) ? [key, item] : [key, descend(item, !isMap && MAPS.has(key))],
  );
  return Object.fromEntries(parts) as Json;
}

/** Rewrites every object in a value that is not a map of names, the innermost first. */
export function mapObjects(value: Json, rewrite: (object: JsonObject) => Json): Json {
  const descend: Descend = (item, isMap) => {
    const mapped = mapParts(item, isMap, descend);
    return !isMap && isObject(mapped) ? rewrite(mapped) : mapped;
  };
  return descend(value, false);
}
