// Writes src/generated/ from the services' OpenAPI documents, as part of the build.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, STRING } from 'openapi-typescript';
import ts from 'typescript';
import { openDocument } from './open-document.mjs';

/** The documents of the routes that have clients: those of everyone, and those of the platform's own services alone. */
const DOCUMENTS = ['identity', 'mail', 'mail.internal', 'crawl'];
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
  const answers = Object.entries(operation.responses)
    .filter(([code]) => code.startsWith('2'))
    .map(([code, { content }]) => ({ status: Number(code), schema: content?.[JSON_TYPE]?.schema }));
  const body = operation.requestBody?.content;
  if (body && !body[JSON_TYPE]) return undefined;
  return {
    method,
    path,
    pathParameters: getParameters(operation, 'path'),
    query: getParameters(operation, 'query'),
    headers: getParameters(operation, 'header'),
    body: body?.[JSON_TYPE].schema,
    answers,
  };
}

const getPath = (document) => {
  const [service, ...audience] = document.split('.');
  return `services/${service}/${['openapi', ...audience, 'json'].join('.')}`;
};
const readDocument = async (document) =>
  JSON.parse(await readFile(new URL(`../../${getPath(document)}`, import.meta.url), 'utf8'));

const createNote = (document) => `// Generated from ${getPath(document)}.\n`;
const toCamelCase = (document) => document.replaceAll(/\.(.)/g, (_match, letter) => letter.toUpperCase());

/** The known values, and any other text: editors still suggest the known ones. */
function toOpenType(schema) {
  if (schema['x-open'] !== true) return undefined;
  const { factory } = ts;
  return factory.createUnionTypeNode([
    ...schema.enum.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value))),
    factory.createParenthesizedType(
      factory.createIntersectionTypeNode([STRING, factory.createTypeLiteralNode([])]),
    ),
  ]);
}

async function generateTypes(document) {
  const source = await readDocument(document);
  const options = { defaultNonNullable: false, transform: toOpenType };
  const generate = async (given) => createNote(document) + astToString(await openapiTS(given, options));
  return {
    [`${document}.types.ts`]: await generate(source),
    // Of what everyone can call, for programs that are older than the platform.
    ...(!document.includes('.') && {
      [`${document}.published.types.ts`]: await generate(openDocument(source)),
    }),
  };
}

/** The media types of successes that are not JSON. */
const listOtherTypes = ({ responses }) =>
  Object.entries(responses)
    .filter(([code]) => code.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.keys(content))
    .filter((type) => type !== JSON_TYPE);

/** Says where an operation is in one text, since a table of objects would be most of the client: see routes.ts. */
function toRoute({ path, method, operation }) {
  const names = (operation.parameters ?? []).map((parameter) => `${parameter.in}.${parameter.name}`);
  const flags = [
    ...(names.includes('query.limit') ? ['paged'] : []),
    ...(names.includes('header.idempotency-key') ? ['keyed'] : []),
    ...listOtherTypes(operation),
  ];
  return [method, path, ...flags].join(' ');
}

async function generateOperations(document) {
  const { paths, components } = await readDocument(document);
  const whole = { paths: withoutReferences(paths, components.schemas) };
  const described = listOperations(whole).map((entry) => [entry.operation.operationId, describe(entry)]);
  const operations = Object.fromEntries(described.filter(([, operation]) => operation));
  const routes = Object.fromEntries(
    listOperations(whole).map((entry) => [entry.operation.operationId, toRoute(entry)]),
  );
  const ids = Object.keys(operations).map((id) => `'${id}'`);
  return {
    ...(!document.includes('.') && {
      [`${document}.routes.ts`]: `${createNote(document)}
/** Where each operation is, in the form of routes.ts. */
export const ${document}Routes = ${JSON.stringify(routes, null, 2)} as const;
`,
    }),
    [`${document}.operations.ts`]: `${createNote(document)}import type { Operation } from '../operation.js';

export const ${toCamelCase(document)}Operations: Readonly<Record<OperationId, Operation>> = ${JSON.stringify(operations, null, 2)};

type OperationId =
  | ${ids.join('\n  | ')};
`,
  };
}

const files = Object.assign(
  {},
  ...(await Promise.all(
    DOCUMENTS.flatMap((document) => [generateTypes(document), generateOperations(document)]),
  )),
);
await rm(generated, { recursive: true, force: true });
await mkdir(generated, { recursive: true });
for (const [name, content] of Object.entries(files)) await writeFile(new URL(name, generated), content);
