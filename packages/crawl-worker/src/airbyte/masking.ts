import type { JsonSchema } from './messages.js';

/** A shorter value would hide ordinary words. */
const MIN_CHARACTERS = 4;
const MIN_LINE_CHARACTERS = 16;
const MASK = '***';

/** Names of fields whose values are secrets even if the specification of the source does not say so. */
const secretName =
  /token|secret|passw|pwd|credential|private|api_?key|access_?key|auth|cookie|sas|signature/i;

/**
 * Creates a function that replaces the secrets of a configuration in text for people.
 *
 * @param schema - of the configuration, which marks secrets; without one, every text in the configuration is a secret.
 */
export function createMask(config: unknown, schema: JsonSchema | undefined): (text: string) => string {
  const secrets = new Set<string>();
  collect(config, schema === undefined ? undefined : [schema], schema === undefined, secrets);
  const forms = [...secrets].flatMap(toForms).filter((form) => form.length >= MIN_CHARACTERS);
  // A secret that contains another one is replaced first.
  const ordered = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

function collect(
  value: unknown,
  schemas: readonly JsonSchema[] | undefined,
  isSecret: boolean,
  secrets: Set<string>,
): void {
  if (typeof value === 'string' || typeof value === 'number') {
    if (isSecret) secrets.add(String(value));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, child] of Object.entries(value)) {
    const childSchemas = Array.isArray(value)
      ? schemas?.flatMap(({ items }) => (items ? expand(items) : []))
      : schemas?.flatMap(expand).flatMap(({ properties = {} }) => {
          const found = Object.hasOwn(properties, name) ? properties[name] : undefined;
          return found ? expand(found) : [];
        });
    const isMarked = childSchemas?.some((schema) => schema.airbyte_secret === true) ?? true;
    collect(child, childSchemas, isSecret || isMarked || secretName.test(name), secrets);
  }
}

/** Returns a schema and its alternatives. */
const expand = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].flatMap(expand),
];

/** Returns the forms in which a secret appears in URLs, headers, JSON and logs. A key of several lines leaks by each line. */
function toForms(secret: string): string[] {
  const lines = secret.split(/\r?\n|\\n/).filter((line) => line.length >= MIN_LINE_CHARACTERS);
  const nested = secret.trimStart().startsWith('{') ? collectNested(secret) : [];
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    ...(lines.length > 1 ? lines : []),
    ...nested,
  ];
}

/** A service account's key is a JSON document in a field. Its texts are secrets, too. */
function collectNested(json: string): string[] {
  try {
    const secrets = new Set<string>();
    collect(JSON.parse(json), undefined, true, secrets);
    return [...secrets].filter((text) => text.length >= MIN_LINE_CHARACTERS).flatMap(toForms);
  } catch {
    return [];
  }
}
