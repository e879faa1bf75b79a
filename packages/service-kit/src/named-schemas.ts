type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name that a schema gives itself; undefined for what is none, such as a property that is called `title`. */
function titleOf(value: JsonObject): string | undefined {
  const { title } = value;
  return typeof title === 'string' && ('type' in value || 'anyOf' in value) ? title : undefined;
}

/** What each title stands for, as text; undefined where that isn't one and the same everywhere. */
function readTitles(value: Json, found = new Map<string, string | undefined>()) {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) readTitles(item, found);
  if (!isObject(value)) return found;
  const title = titleOf(value);
  if (title !== undefined) {
    const text = JSON.stringify(value);
    found.set(title, !found.has(title) || found.get(title) === text ? text : undefined);
  }
  for (const item of Object.values(value)) readTitles(item, found);
  return found;
}

interface Document {
  readonly paths?: unknown;
  readonly components?: object;
}

/**
 * Puts each schema that has a title into the document's components, under that title, and a reference
 * in its places (OpenAPI 3.1.1 §4.8.7). Schemas that share a title and differ stay where they are.
 */
export function nameSchemas<D extends Document>(document: D): D {
  // Without what JSON leaves out, as it will be sent.
  const paths = JSON.parse(JSON.stringify(document.paths ?? {})) as Json;
  const titles = readTitles(paths);
  const schemas: Record<string, Json> = {};

  function refer(value: Json): Json {
    if (Array.isArray(value)) return (value as readonly Json[]).map(refer);
    if (!isObject(value)) return value;
    const referring = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, refer(item)]));
    const title = titleOf(value);
    if (title === undefined || titles.get(title) === undefined) return referring;
    schemas[title] = referring;
    return { $ref: `#/components/schemas/${title}` };
  }

  const referring = refer(paths);
  return { ...document, paths: referring, components: { ...document.components, schemas } };
}
