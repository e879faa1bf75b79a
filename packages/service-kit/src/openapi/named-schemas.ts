type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name that a schema gives itself; undefined for what is none, such as a property that is called `title`. */
function titleOf(value: JsonObject): string | undefined {
  const { title } = value;
  return typeof title === 'string' && ('type' in value || 'anyOf' in value) ? title : undefined;
}

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Keywords whose value is a map: its keys are names, not keywords. */
const MAPS = new Set(['$defs', 'content', 'headers', 'patternProperties', 'properties', 'responses']);

type Descend = (item: Json, isMap: boolean) => Json;

/** The same value with what `descend` makes of each part that may hold schemas. */
function mapParts(value: Json, isMap: boolean, descend: Descend): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => descend(item, false));
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(([key, item]) =>
    !isMap && DATA.has(key) ? [key, item] : [key, descend(item, !isMap && MAPS.has(key))],
  );
  return Object.fromEntries(parts) as Json;
}

/** What a name stands for, as text; undefined where that isn't one and the same everywhere. */
type Meanings = Map<string, string | undefined>;

/** Adds what each title stands for. */
function readTitles(value: Json, isMap: boolean, found: Meanings): Json {
  const title = isObject(value) ? titleOf(value) : undefined;
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

/** Without what JSON leaves out, as it will be sent. */
const sent = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? {})) as Json;

/**
 * Puts each schema that has a title into the document's components, under that title, and a reference
 * in its places (OpenAPI 3.1.1 §4.8.7). Schemas that share a title and differ, from one another or from
 * what the components hold under that name, stay where they are; the components' own are left as they are.
 */
export function nameSchemas<D extends Document>(document: D): D {
  const paths = sent(document.paths);
  const present = sent(document.components?.schemas) as JsonObject;
  const meanings: Meanings = new Map(
    Object.entries(present).map(([name, schema]) => [name, JSON.stringify(schema)]),
  );
  readTitles(paths, true, meanings);
  const schemas: Record<string, Json> = { ...present };

  function refer(value: Json, isMap: boolean): Json {
    const referring = mapParts(value, isMap, refer);
    const title = isObject(value) ? titleOf(value) : undefined;
    if (title === undefined || meanings.get(title) === undefined) return referring;
    if (!Object.hasOwn(present, title)) schemas[title] = referring;
    return { $ref: `#/components/schemas/${title}` };
  }

  const referring = refer(paths, true);
  return { ...document, paths: referring, components: { ...document.components, schemas } };
}
