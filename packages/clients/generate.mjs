// Writes src/generated/ from the services' openapi.json, as part of the build.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

/** Services whose routes other services call. */
const CALLED = ['mail', 'crawl'];
/** Services whose routes the console calls. It needs the types only. */
const TYPED = ['identity', ...CALLED];
const generated = new URL('src/generated/', import.meta.url);

const REFERENCE = '#/components/schemas/';

/** Replaces each reference by the schema itself. */
function withoutReferences(value, schemas) {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, schemas));
  if (value === null || typeof value !== 'object') return value;
  if (value.$ref) return withoutReferences(schemas[value.$ref.slice(REFERENCE.length)], schemas);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutReferences(item, schemas)]),
  );
}

const listOperations = ({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );

/** Returns the parameters of one location as the schema of an object. */
function getParameters({ parameters = [] }, place) {
  const found = parameters.filter((parameter) => parameter.in === place);
  if (found.length === 0) return undefined;
  const described = found.map(({ name, schema, description }) => [
    name,
    { ...schema, ...(description && { description }) },
  ]);
  const required = found.filter((parameter) => parameter.required).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(described),
    additionalProperties: false,
  };
}

const JSON_TYPE = 'application/json';

/** Describes what a client needs at run time. Forms and responses that are not JSON are left out. */
function describe({ path, method, operation }) {
  const [status] = Object.keys(operation.responses).filter((code) => code.startsWith('2'));
  const body = operation.requestBody?.content;
  if (body && !body[JSON_TYPE]) return undefined;
  return {
    method,
    path,
    pathParameters: getParameters(operation, 'path'),
    query: getParameters(operation, 'query'),
    headers: getParameters(operation, 'header'),
    body: body?.[JSON_TYPE].schema,
    status: Number(status),
    answer: operation.responses[status]?.content?.[JSON_TYPE]?.schema,
  };
}

async function readDocument(service) {
  const file = new URL(`../../services/${service}/openapi.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8'));
}

const createNote = (service) => `// Generated from services/${service}/openapi.json.\n`;

async function generateTypes(service) {
  const types = await openapiTS(await readDocument(service), { defaultNonNullable: false });
  return { [`${service}.types.ts`]: createNote(service) + astToString(types) };
}

async function generateOperations(service) {
  const document = await readDocument(service);
  const whole = { paths: withoutReferences(document.paths, document.components.schemas) };
  const described = listOperations(whole).map((entry) => [entry.operation.operationId, describe(entry)]);
  const operations = Object.fromEntries(described.filter(([, operation]) => operation));
  const names = Object.keys(operations).map((name) => `  | '${name}'`);
  return {
    [`${service}.operations.ts`]: `${createNote(service)}import type { Operation } from '../operation.js';

export const ${service}Operations: Readonly<Record<${service}OperationId, Operation>> = ${JSON.stringify(operations, null, 2)};

type ${service}OperationId =
${names.join('\n')};
`.replaceAll(`${service}OperationId`, `${service[0].toUpperCase()}${service.slice(1)}OperationId`),
  };
}

const files = Object.assign(
  {},
  ...(await Promise.all([...TYPED.map(generateTypes), ...CALLED.map(generateOperations)])),
);
await rm(generated, { recursive: true, force: true });
await mkdir(generated, { recursive: true });
for (const [name, content] of Object.entries(files)) await writeFile(new URL(name, generated), content);
