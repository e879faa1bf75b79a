import { STATUS_CODES } from 'node:http';
import type { ErrorFormat, PublicError } from '../error-format.js';
import { bodyErrors, internalError, readErrors, withoutErrors } from './error-responses.js';
import { createExample } from './examples.js';
import { isObject, type Json, type JsonObject, toJson } from './json.js';
import { nameSchemas } from './named-schemas.js';
import { toInput, toPortable } from './schema-rewrites.js';

/** The tag of operations for the platform's own services. Gateways do not route them, and they are not published. */
const INTERNAL_TAG = 'Services';

/** Methods whose requests may carry a body, even if the operation does not use it. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['delete', 'patch', 'post', 'put']);

export type Audience = 'everyone' | 'services';

const isInternal = ({ tags }: JsonObject): boolean => Array.isArray(tags) && tags.includes(INTERNAL_TAG);
const isNull = (schema: Json): boolean => isObject(schema) && schema['type'] === 'null';

/** Makes a body that may be null optional. */
function publishContent(content: JsonObject): { readonly isOptional: boolean; readonly content: JsonObject } {
  let isOptional = false;
  const entries = Object.entries(content).map(([type, media]) => {
    const { schema = {}, ...rest } = media as JsonObject;
    const choices = isObject(schema) && Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]) : [];
    const [only, ...others] = choices.filter((choice) => !isNull(choice));
    const isUnionWithNull = only !== undefined && choices.length > others.length + 1;
    isOptional ||= isUnionWithNull;
    const without = isUnionWithNull && others.length === 0 ? only : schema;
    return [type, { ...rest, schema: toInput(without) }] as const;
  });
  return { isOptional, content: Object.fromEntries(entries) };
}

function publishBody(body: Json): Json {
  const { isOptional, content } = publishContent((body as JsonObject)['content'] as JsonObject);
  return { ...(body as JsonObject), required: !isOptional, content };
}

/** No URL may contain NUL, because PostgreSQL cannot store it in a text. */
const WITHOUT_NUL = String.raw`^[^\u0000]*$`;

function publishParameter(parameter: Json): Json {
  const { schema: given, ...rest } = parameter as JsonObject;
  const schema = isObject(given) ? given : {};
  const isFreeText = schema['type'] === 'string' && !('format' in schema) && rest['in'] !== 'header';
  return {
    ...rest,
    schema: { ...(isFreeText && { pattern: WITHOUT_NUL }), ...schema },
    ...('default' in schema && { required: false }),
  };
}

const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } };
const CHALLENGE = { 'www-authenticate': { $ref: '#/components/headers/Challenge' } };

/** The headers of responses, which operations refer to. */
const headers = {
  RequestId: {
    description: "The request's own `x-request-id`, or a new one. Log lines of the request have it.",
    required: true,
    schema: { type: 'string' },
    example: 'd3f1c2a94b7e4f0c8a61b2d7-1z',
  },
  RetryAfter: {
    description: 'After how many seconds the request may be repeated.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  Challenge: {
    description: 'What a credential would have to be (RFC 6750, RFC 9449).',
    schema: { type: 'string' },
    example: 'Bearer realm="platform", error="invalid_token"',
  },
};

const getHeaders = (status: string): JsonObject => ({
  ...REQUEST_ID,
  ...((status === '429' || status === '503') && RETRY_AFTER),
  ...(status === '401' && CHALLENGE),
});

/** The description of a response, unless the route gives one: the library calls all of them the default. */
const describeStatus = (status: string, description: Json | undefined): string =>
  typeof description === 'string' && description !== 'Default Response'
    ? description
    : (STATUS_CODES[status] ?? status);

function publishSuccess(status: string, response: JsonObject): Json {
  const { description, ...rest } = response;
  return {
    description: describeStatus(status, description),
    headers: getHeaders(status),
    ...rest,
  };
}

/** The document's own list of errors, to which responses refer. */
type ErrorList = Map<string, PublicError>;

/** Describes the errors of one status: their codes, and an example of each. */
function publishErrors(status: string, errors: readonly PublicError[], schema: Json, list: ErrorList): Json {
  for (const error of errors) if (!list.has(error.code)) list.set(error.code, error);
  const codes = [...new Set(errors.map(({ code }) => code))];
  const listed = codes.map((code) => `\`${code}\``).join(', ');
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  const media = { schema, ...(codes.length > 0 ? { examples } : { example: createExample(schema, false) }) };
  return {
    description: [STATUS_CODES[status] ?? 'Any other error', listed].filter(Boolean).join(': '),
    headers: getHeaders(status),
    content: { 'application/json': media },
  };
}

const isSuccess = (status: string): boolean => /^[23]/.test(status);

function publishResponses(operation: JsonObject, method: string, schema: Json, list: ErrorList): Json {
  const responses = Object.entries((operation['responses'] ?? {}) as JsonObject);
  const getSchema = (response: Json | undefined): JsonObject | undefined => {
    const { content } = (response ?? {}) as {
      readonly content?: Readonly<Record<string, { schema: JsonObject }>>;
    };
    return content?.['application/json']?.schema;
  };
  const errors = [
    ...responses.flatMap(([status, response]) =>
      isSuccess(status) ? [] : readErrors(getSchema(response) ?? {}),
    ),
    ...readErrors(operation),
    ...(METHODS_WITH_BODY.has(method) ? bodyErrors : []),
  ];
  const statuses = new Set([
    ...responses.map(([status]) => status),
    ...errors.map(({ status }) => String(status)),
  ]);
  const published = [...statuses].toSorted().map((status) => {
    const response = responses.find(([declared]) => declared === status)?.[1];
    // Errors in another form than the usual one are those that this response declares.
    const ownSchema = getSchema(response);
    const hasOwnForm = ownSchema !== undefined && ownSchema['title'] !== (schema as JsonObject)['title'];
    const own = hasOwnForm
      ? readErrors(ownSchema)
      : errors.filter((error) => String(error.status) === status);
    return [
      status,
      isSuccess(status)
        ? publishSuccess(status, response as JsonObject)
        : publishErrors(status, own, withoutErrors(ownSchema ?? (schema as JsonObject)) as Json, list),
    ] as const;
  });
  return {
    ...Object.fromEntries(published),
    default: publishErrors('default', [internalError], schema, list),
  };
}

function publishOperation(operation: JsonObject, method: string, schema: Json, list: ErrorList): JsonObject {
  const { requestBody, parameters, security } = operation;
  return {
    ...withoutErrors(operation),
    ...(parameters !== undefined && { parameters: (parameters as readonly Json[]).map(publishParameter) }),
    ...(requestBody !== undefined && { requestBody: publishBody(requestBody) }),
    responses: publishResponses(operation, method, schema, list),
    // Without it, a reader can't distinguish a public operation from a forgotten one.
    security: security ?? [],
  };
}

/** Gives each kind of content that has none an example, made from its schema. */
function addExamples(part: Json, isInput: boolean): Json {
  const content = isObject(part) ? part['content'] : undefined;
  if (!isObject(content)) return part;
  const exemplified = Object.entries(content).map(([type, media]) => {
    const { schema = {}, ...rest } = media as JsonObject;
    return [type, { schema, example: createExample(schema, isInput), ...rest }];
  });
  return { ...(part as JsonObject), content: Object.fromEntries(exemplified) as Json };
}

function exemplifyOperation(operation: JsonObject): JsonObject {
  const { requestBody } = operation;
  const responses = Object.entries(operation['responses'] as JsonObject).map(([status, response]) => [
    status,
    isSuccess(status) ? addExamples(response, false) : response,
  ]);
  return {
    ...operation,
    ...(requestBody !== undefined && { requestBody: addExamples(requestBody, true) }),
    responses: Object.fromEntries(responses),
  };
}

const mapOperations = (
  paths: JsonObject,
  map: (operation: JsonObject, method: string) => JsonObject | undefined,
): JsonObject =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, operations]) => {
      const mapped = Object.entries(operations as JsonObject).flatMap(([method, operation]) => {
        const result = map(operation as JsonObject, method);
        return result ? [[method, result] as const] : [];
      });
      return mapped.length > 0 ? [[path, Object.fromEntries(mapped)] as const] : [];
    }),
  );

interface Document extends Readonly<Record<string, unknown>> {
  readonly paths?: unknown;
  readonly components?: { readonly securitySchemes?: unknown };
}

/**
 * Converts the document for one audience to a form that generators of other languages can use.
 *
 * @param document of all routes, as @fastify/swagger makes it
 * @param errors the format of the service's errors
 * @param tagDescriptions what each tag is about, by name
 */
export function publishDocument(
  document: Document,
  errors: ErrorFormat,
  tagDescriptions: Readonly<Record<string, string>>,
  audience: Audience,
): Document {
  const schema = toJson(errors.schema);
  const list: ErrorList = new Map();
  const tagsInUse = new Set<Json>();
  const published = mapOperations(toJson(document.paths) as JsonObject, (operation, method) => {
    if (isInternal(operation) !== (audience === 'services')) return undefined;
    for (const tag of (operation['tags'] ?? []) as Json[]) tagsInUse.add(tag);
    return publishOperation(operation, method, schema, list);
  });
  const tags = Object.entries(tagDescriptions).filter(([name]) => tagsInUse.has(name));
  const examples = [...list.values()]
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
    .map((error) => [error.code, { value: toJson(errors.render(error)) }]);
  return nameSchemas({
    ...document,
    tags: tags.map(([name, description]) => ({ name, description })),
    components: { ...document.components, headers, examples: Object.fromEntries(examples) },
    paths: mapOperations(toPortable(published) as JsonObject, exemplifyOperation),
  });
}
