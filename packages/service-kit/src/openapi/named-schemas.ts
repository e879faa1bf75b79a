import { type Json, type JsonObject, isObject, mapParts, toJson } from './json.js';

/** Returns the title of a schema; undefined for other objects, such as one with a property called `title`. */
function getTitle(value: JsonObject): string | undefined {
  const { title } = value;
  return typeof title === 'string' && ('type' in value || 'anyOf' in value) ? title : undefined;
}

/** The schema of each name, as text; undefined where schemas with that name differ. */
type Meanings = Map<string, string | undefined>;

/** Adds the schema of each title. */
function readTitles(value: Json, isMap: boolean, found: Meanings): Json {
  const title = isObject(value) ? getTitle(value) : undefined;
  if (title !== undefined) {
    const text = JSON.stringify(value);
    found.set(title, !found.has(title) || found.get(title) === text ? text : undefined);
  }
  return mapParts(value, isMap, (item, isItemMap) => readTitles(item, isItemMap, found));
}

interface Document {
  readonly paths?: unknown;
  readonly components?: { readonly schemas?: unknown; readonly [kind: string]: unknown };
}

/**
 * Moves each schema that has a title to the document's components, under that title, and leaves references to it
 * (OpenAPI 3.1.1 §4.8.7). Schemas stay in place when they share a title but differ from one another or from the existing
 * component of that name. Existing components do not change.
 */
export function nameSchemas<D extends Document>(document: D): D {
  const paths = toJson(document.paths);
  const present = toJson(document.components?.schemas) as JsonObject;
  const meanings: Meanings = new Map(
    Object.entries(present).map(([name, schema]) => [name, JSON.stringify(schema)]),
  );
  readTitles(paths, true, meanings);
  const schemas: Record<string, Json> = { ...present };

  function refer(value: Json, isMap: boolean): Json {
    const referring = mapParts(value, isMap, refer);
    const title = isObject(value) ? getTitle(value) : undefined;
    if (title === undefined || meanings.get(title) === undefined) return referring;
    if (!Object.hasOwn(present, title)) schemas[title] = referring;
    return { $ref: `#/components/schemas/${title}` };
  }

  const referring = refer(paths, true);
  return { ...document, paths: referring, components: { ...document.components, schemas } };
}
