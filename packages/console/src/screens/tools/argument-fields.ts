/** A field of the form for the arguments of a tool. What a form cannot ask for part by part is typed as JSON. */
export interface ArgumentField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'lines' | 'json';
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  /** The default of the schema, as it is typed. */
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;
export type InvalidArgument = 'number' | 'integer' | 'json';

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function findKind(schema: Schema): ArgumentField['kind'] {
  const { type, items } = schema;
  if (Array.isArray(schema['enum']) && schema['enum'].every((one) => typeof one === 'string'))
    return 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  const isOfTexts = isObject(items) && items['type'] === 'string' && !Array.isArray(items['enum']);
  return type === 'array' && isOfTexts ? 'lines' : 'json';
}

function toTyped(kind: ArgumentField['kind'], value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the fields for the arguments that a JSON Schema describes, those that are required first. */
export function toArgumentFields(inputSchema: Schema): readonly ArgumentField[] {
  const { properties, required } = inputSchema;
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, described]) => {
    const schema = isObject(described) ? described : {};
    const kind = findKind(schema);
    return {
      name,
      kind,
      hint: typeof schema['description'] === 'string' ? schema['description'] : undefined,
      isRequired: names.includes(name),
      choices: kind === 'choice' ? (schema['enum'] as string[]) : [],
      initial: toTyped(kind, schema['default']),
    };
  });
  return fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** Returns what is wrong with what was typed. */
export function findInvalid(
  { kind }: Pick<ArgumentField, 'kind'>,
  typed: string,
): InvalidArgument | undefined {
  if (typed.trim() === '') return undefined;
  if (kind === 'number') return Number.isFinite(Number(typed)) ? undefined : kind;
  if (kind === 'integer') return Number.isSafeInteger(Number(typed)) ? undefined : kind;
  if (kind !== 'json') return undefined;
  try {
    JSON.parse(typed);
    return undefined;
  } catch {
    return kind;
  }
}

function toValue({ kind }: ArgumentField, typed: string): unknown {
  if (kind === 'number' || kind === 'integer') return Number(typed);
  if (kind === 'boolean') return typed === 'true';
  if (kind === 'json') return JSON.parse(typed);
  if (kind === 'lines')
    return typed
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  return typed;
}

/** Returns the arguments that were typed. What is empty and not required is left out. */
export const toArguments = (
  fields: readonly ArgumentField[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = typed[field.name] ?? '';
      return value.trim() === '' ? [] : [[field.name, toValue(field, value)]];
    }),
  );
