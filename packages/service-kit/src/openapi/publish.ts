import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { isObject, type Json, type JsonObject, toJson } from './json.js';
import { nameSchemas } from './named-schemas.js';
import { toInput, toPortable } from './schema-rewrites.js';

/** The tag of operations for the platform's own services. Gateways do not route them, and they are not published. */
const INTERNAL_TAG = 'Services';

/** Methods whose requests may carry a body, even if the operation does not use it. */
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['delete', 'patch', 'post', 'put']);
/** The errors that any body can cause: it is not JSON, incomplete, too large, or of another type. */
const BODY_FAULTS = [400, 408, 413, 415] as const;

export type Audience = 'everyone' | 'services';

const isInternal = ({ tags }: JsonObject): boolean => Array.isArray(tags) && tags.includes(INTERNAL_TAG);
const isNull = (schema: Json): boolean => isObject(schema) && schema['type'] === 'null';

/** Makes a body that may be null optional. */
function publishContent(content: JsonObject): { readonly isOptional: boolean; readonly content: Json } {
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

/** Gives each response its description, because the library calls all of them the default. */
const publishResponses = (responses: JsonObject): Json =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { description, ...rest } = response as JsonObject;
      const isUnnamed = description === 'Default Response';
      return [status, { description: isUnnamed ? (STATUS_CODES[status] ?? status) : description, ...rest }];
    }),
  ) as Json;

function publishOperation(operation: JsonObject, method: string, errorSchema: Json): JsonObject {
  const { requestBody, parameters, responses, security } = operation;
  const fault: Json = {
    description: 'Default Response',
    content: { 'application/json': { schema: errorSchema } },
  };
  const faults = METHODS_WITH_BODY.has(method) ? BODY_FAULTS.map((status) => [status, fault]) : [];
  return {
    ...operation,
    ...(parameters !== undefined && { parameters: (parameters as readonly Json[]).map(publishParameter) }),
    ...(requestBody !== undefined && { requestBody: publishBody(requestBody) }),
    responses: publishResponses({ ...Object.fromEntries(faults), ...(responses as JsonObject) }),
    // Without it, a reader can't distinguish a public operation from a forgotten one.
    security: security ?? [],
  };
}

/**
 * Converts the document for one audience to a form that generators of other languages can use.
 *
 * @param document of all routes, as @fastify/swagger makes it
 * @param errorSchema of the service's errors
 */
export function publishDocument<D extends { readonly paths?: unknown }>(
  document: D,
  errorSchema: TSchema,
  audience: Audience,
): D {
  const error = toJson(errorSchema);
  const paths = Object.entries(toJson(document.paths) as JsonObject).map(([path, operations]) => {
    const published = Object.entries(operations as JsonObject)
      .filter(([, operation]) => isInternal(operation as JsonObject) === (audience === 'services'))
      .map(([method, operation]) => [method, publishOperation(operation as JsonObject, method, error)]);
    return [path, Object.fromEntries(published)] as const;
  });
  const shown = paths.filter(([, operations]) => Object.keys(operations).length > 0);
  return nameSchemas({ ...document, paths: toPortable(Object.fromEntries(shown)) });
}
