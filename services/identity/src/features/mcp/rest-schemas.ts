import type { JsonSchema, ObjectSchema, Operation } from '@platform/clients';
import type { Tool, ToolSchema } from './tool.js';

/** The services' routers take no longer path segment. */
const MAX_SEGMENT_LENGTH = 100;

const asSegment = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  minLength: 1,
  maxLength: MAX_SEGMENT_LENGTH,
});

const mapValues = <A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/**
 * The arguments of a tool that is one REST operation: its path parameters and the fields of its body,
 * as the operation's own document has them.
 *
 * The fields of the body are checked by the endpoint alone: one rule decides, and its faults are in
 * the words of the one that knows (a schedule's in those of its type).
 */
export function toInputSchemas(
  operation: Operation,
): Pick<Tool, 'inputSchema'> & { checkedSchema: ToolSchema } {
  const { pathParameters } = operation;
  const body = operation.body as ObjectSchema | undefined;
  const parameters = mapValues(pathParameters?.properties ?? {}, asSegment);
  const required = pathParameters?.required ?? [];
  const toSchema = (fields: Readonly<Record<string, JsonSchema>>, names: readonly string[]): ToolSchema => ({
    type: 'object',
    properties: { ...parameters, ...fields },
    ...(names.length > 0 && { required: names }),
    additionalProperties: false,
  });
  return {
    inputSchema: toSchema(body?.properties ?? {}, [...required, ...(body?.required ?? [])]),
    checkedSchema: toSchema(
      mapValues(body?.properties ?? {}, () => ({})),
      required,
    ),
  };
}

/** What the operation answers, or a part of it: `['data']`. */
export function toOutputSchema({ answer }: Operation, path: readonly string[] = []): ToolSchema {
  let schema = answer;
  for (const name of path)
    schema = name === '[]' ? (schema?.['items'] as JsonSchema) : (schema as ObjectSchema).properties[name];
  if (schema?.['type'] !== 'object') throw new TypeError(`no object at ${path.join('.')}`);
  return schema as unknown as ToolSchema;
}

/** Only these properties of an object, all of them there. */
export function pick(schema: ToolSchema, names: readonly string[]): ToolSchema {
  const { properties } = schema as ObjectSchema;
  return {
    type: 'object',
    required: [...names],
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
  };
}
