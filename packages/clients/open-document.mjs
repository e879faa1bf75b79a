// Prepares an OpenAPI document for the published clients, which outlive the platform that they were made for.

const REFERENCE = '#/components/schemas/';
const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

const isTextConst = (schema) => typeof schema?.const === 'string';

/** Rewrites each schema below a value, the outermost first. */
function mapSchemas(value, rewrite) {
  if (Array.isArray(value)) return value.map((item) => mapSchemas(item, rewrite));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(rewrite(value)).map(([key, item]) => [key, mapSchemas(item, rewrite)]),
  );
}

/** Marks the enumerations of texts, in either way to write one. A `const` alone tells the kinds of objects apart, and stays. */
function openEnumeration(schema) {
  if (schema.type === 'string' && Array.isArray(schema.enum)) return { ...schema, 'x-open': true };
  for (const keyword of ['anyOf', 'oneOf']) {
    const consts = Array.isArray(schema[keyword]) ? schema[keyword].filter(isTextConst) : [];
    if (consts.length < 2) continue;
    const others = schema[keyword].filter((one) => !isTextConst(one));
    const open = { type: 'string', enum: consts.map((one) => one.const), 'x-open': true };
    const { [keyword]: _consts, ...rest } = schema;
    return others.length === 0 ? { ...rest, ...open } : { ...rest, [keyword]: [open, ...others] };
  }
  return schema;
}

/** Lists the schemas of components that a part of the document uses, directly or through others. */
function findReferences(part, schemas, found = new Set()) {
  mapSchemas(part, (schema) => {
    const name = typeof schema.$ref === 'string' && schema.$ref.slice(REFERENCE.length);
    if (name && !found.has(name)) {
      found.add(name);
      findReferences(schemas[name], schemas, found);
    }
    return schema;
  });
  return found;
}

const hasOpenEnumeration = (schema) => JSON.stringify(schema).includes('"x-open":true');

/**
 * Marks each enumeration of texts in a response with `x-open`: a newer platform may send others. What is sent stays exact: a
 * schema of both directions that has one is there twice, for requests as `<Name>Input`.
 */
export function openDocument(document) {
  const { schemas } = document.components;
  const opened = mapSchemas(schemas, openEnumeration);
  const entries = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([, operation]) => ({ path, operation })),
  );
  const toInputs = ({ parameters, requestBody }) => ({ parameters, requestBody });
  const used = findReferences(
    entries.map(({ operation }) => toInputs(operation)),
    schemas,
  );
  const toReach = (name) => [name, ...findReferences(schemas[name], schemas)];
  const closed = new Set(
    [...used].filter((name) => toReach(name).some((one) => hasOpenEnumeration(opened[one]))),
  );
  const read = findReferences(
    entries.map(({ operation }) => operation.responses),
    schemas,
  );
  const toInputName = (name) => (read.has(name) ? `${name}Input` : name);
  const taken = [...closed].map(toInputName).find((name) => name in schemas && !closed.has(name));
  if (taken) throw new Error(`The document has a schema ${taken} already`);
  const close = (part) =>
    mapSchemas(part, (schema) => {
      const name = typeof schema.$ref === 'string' && schema.$ref.slice(REFERENCE.length);
      return name && closed.has(name) ? { ...schema, $ref: REFERENCE + toInputName(name) } : schema;
    });
  const inputs = Object.fromEntries([...closed].map((name) => [toInputName(name), close(schemas[name])]));
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => [
          method,
          METHODS.has(method)
            ? {
                ...operation,
                ...close(toInputs(operation)),
                responses: mapSchemas(operation.responses, openEnumeration),
              }
            : operation,
        ]),
      ),
    ]),
  );
  return { ...document, paths, components: { ...document.components, schemas: { ...opened, ...inputs } } };
}
