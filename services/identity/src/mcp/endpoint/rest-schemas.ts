import type { JsonSchema, ObjectSchema, Operation } from '@platform/clients';
import type { Tool, ToolSchema } from './tool.js';

/** The services' routers reject longer path segments. */
const MAX_SEGMENT_LENGTH = 100;

const asSegment = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  minLength: 1,
  maxLength: MAX_SEGMENT_LENGTH,
});

/** The services are more lenient than their documents, and say what is wrong in better words than a pattern. */
const asCheckedSegment = ({ pattern: _pattern, ...schema }: JsonSchema): JsonSchema => asSegment(schema);

const mapValues = <A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/**
 * Returns the input schemas of a tool that is one REST operation: the arguments are its path parameters and the fields
 * of its body, as documented by the operation.
 *
 * Only the endpoint checks the fields of the body, so that there is one rule, and its messages are the specific ones
 * (for a schedule, those of its type).
 */
export function toInputSchemas(
  operation: Operation,
): Pick<Tool, 'inputSchema'> & { checkedSchema: ToolSchema } {
  const { pathParameters } = operation;
  const body = operation.body as ObjectSchema | undefined;
  const required = pathParameters?.required ?? [];
  const parameters = pathParameters?.properties ?? {};
  const toSchema = (
    properties: Readonly<Record<string, JsonSchema>>,
    names: readonly string[],
  ): ToolSchema => ({
    type: 'object',
    properties,
    ...(names.length > 0 && { required: names }),
    additionalProperties: false,
  });
  return {
    inputSchema: toSchema({ ...mapValues(parameters, asSegment), ...body?.properties }, [
      ...required,
      ...(body?.required ?? []),
    ]),
    checkedSchema: toSchema(
      { ...mapValues(parameters, asCheckedSegment), ...mapValues(body?.properties ?? {}, () => ({})) },
      required,
    ),
  };
}

/** The path of an operation on an instance of a connector, as the argument of a tool. */
export type InstanceArguments = { readonly connector: string; readonly instance?: string };

/** Returns the path that a tool's arguments name; without an instance, it is that of the default one. */
export const toInstancePath = ({ connector, instance = 'default' }: InstanceArguments) => ({
  connector,
  instance,
});

/** As {@link toInputSchemas}, for an operation on an instance of a connector, which may be left out. */
export function toInstanceInputSchemas(operation: Operation): ReturnType<typeof toInputSchemas> {
  const { inputSchema, checkedSchema } = toInputSchemas(operation);
  const withOptionalInstance = (schema: ToolSchema): ToolSchema => ({
    ...schema,
    required: schema.required?.filter((name) => name !== 'instance') ?? [],
  });
  return {
    inputSchema: withOptionalInstance(inputSchema),
    checkedSchema: withOptionalInstance(checkedSchema),
  };
}

/** Returns the schema of the operation's response, or of the part at `path`, such as `['data']`. */
export function toOutputSchema({ answers: [answer] }: Operation, path: readonly string[] = []): ToolSchema {
  let { schema } = answer;
  for (const name of path)
    schema = name === '[]' ? (schema?.['items'] as JsonSchema) : (schema as ObjectSchema).properties[name];
  if (schema?.['type'] !== 'object')
    throw new TypeError(`the response schema has no object at ${path.join('.')}`);
  return schema as unknown as ToolSchema;
}

/** Returns the schema with only these properties, all required. */
export function pick(schema: ToolSchema, names: readonly string[]): ToolSchema {
  const { properties } = schema as ObjectSchema;
  return {
    type: 'object',
    required: [...names],
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
  };
}

/** Returns the schema with one property more, which is always there. */
export const withProperty = (schema: ToolSchema, name: string, property: object): ToolSchema => ({
  ...schema,
  properties: { ...schema.properties, [name]: property },
  required: [...(schema.required ?? []), name],
});
