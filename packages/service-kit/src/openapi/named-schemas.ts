import { type Json, type JsonObject, isObject, mapParts, toJson } from './json.js';

/** The name that a schema gives itself; undefined for what is none, such as a property that is called `title`. */
function getTitle(value: JsonObject): string | undefined {
  const { title } = value;
  return typeof title === 'string' && ('type' in value || 'anyOf' in value) ? title : undefined;
}

/** What a name stands for, as text; undefined where that isn't one and the same everywhere. */
type Meanings = Map<string, string | undefined>;

/** Adds what each title stands for. */
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
  readonly components?: { readonly schemas?: unknown; readonly securitySchemes?: unknown };
}

/**
 * Puts each schema that has a title into the document's components, under that title, and a reference
 * in its places (OpenAPI 3.1.1 §4.8.7). Schemas that share a title and differ, from one another or from
 * what the components hold under that name, stay where they are; the components' own are left as they are.
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
