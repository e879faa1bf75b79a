import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { type Answer, type CallOptions, callUrl } from './call-url.js';

/*
 * Compares a service with its OpenAPI document: from valid requests it makes many others, each with one change, and the
 * document has to refuse exactly the requests that the service refuses with 400.
 */

type Schema = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

/** A request, by the names of its document. Parameters are texts, as they are sent. */
export interface DocumentedRequest {
  readonly operationId: string;
  readonly path?: Texts;
  readonly query?: Texts;
  readonly headers?: Texts;
  readonly body?: unknown;
  /** The parts that are changed. Default: all. */
  readonly changed?: readonly Part[];
  /** Fields that stay as they are, such as a cursor, whose text no schema describes. */
  readonly kept?: readonly string[];
}
const parts = ['path', 'query', 'headers', 'body'] as const;
type Part = (typeof parts)[number];

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { schema: Schema }> };
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toList = (value: unknown): readonly Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);

/** Texts that many fields refuse; and more for fields of a format. */
const TEXTS = [
  '', ' ', 'unknown', '-', 'ä.example', 'ftp://a.example/', 'https://', '61 2 * * *', 'a\u0007b', 'a\u2028b', 'a\u202eb',
  'x'.repeat(300),
  // Scripts that a list of common ones forgets, an emoji alone, and a combining mark.
  'தமிழ்', 'ქართული', 'বাংলা', 'አማርኛ', 'Հայերեն', 'ಕನ್ನಡ', 'ខ្មែរ', '\u{1f642}', 'e\u0301',
]; // oxfmt-ignore
const TEXTS_OF_FORMAT: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2027-02-30T00:00:00Z', '2016-12-31T23:59:60Z', '2027-01-01T00:00:00'],
  'idn-email': ['a@b@c', 'a@1.2', 'a..b@c', 'Ada <a@example.com>'],
};

/** An empty path is another one, and HTTP has few such headers. */
const SHORT_TEXTS = [' ', 'unknown', 'a b', '-', '%', 'x'.repeat(300)];

/** Repeats the last character. */
const stretch = (text: string, length: number): string =>
  text.length < length ? text + (text.at(-1) ?? 'x').repeat(length - text.length) : text.slice(0, length);

/** Opens a document, with the schemas in it. */
export function openDocument(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });
  const coercing = new Ajv2020({ strict: false, validateSchema: false, logger: false, coerceTypes: true });
  const addFormats = ('default' in ajvFormats ? ajvFormats.default : ajvFormats) as (to: Ajv2020) => Ajv2020;
  for (const one of [ajv, coercing]) addFormats(one).addSchema({ $id: 'api', ...document });

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({ ...operation, method, path })),
  );
  const find = (id: string): Operation => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (!operation) throw new Error(`The document has no operation ${id}`);
    return operation;
  };

  /** Returns the schema of a part, without the references to the document. */
  function getSchema({ parameters = [], requestBody }: Operation, part: Part): Schema | undefined {
    if (part === 'body') return requestBody?.content['application/json']?.schema;
    const own = parameters.filter(({ in: place }) => `${place}s`.startsWith(part));
    if (own.length === 0) return undefined;
    return {
      type: 'object',
      properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
      required: own.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: part === 'headers',
    };
  }

  const checks = new Map<string, ((value: unknown) => boolean) | undefined>();
  /** Returns the check of a part; undefined when the operation has no such part. */
  function getCheck(operation: Operation, part: Part): ((value: unknown) => boolean) | undefined {
    const key = `${operation.operationId} ${part}`;
    if (checks.has(key)) return checks.get(key);
    const schema = getSchema(operation, part);
    // References are resolved within the document.
    const absolute = JSON.stringify(schema)?.replaceAll('"#/', '"api#/');
    const check = absolute && (part === 'body' ? ajv : coercing).compile(JSON.parse(absolute) as AnySchema);
    checks.set(key, (check || undefined) as ((value: unknown) => boolean) | undefined);
    return checks.get(key);
  }

  function isValid(operation: Operation, part: Part, value: unknown): boolean {
    if (part === 'body' && value === undefined) return operation.requestBody?.required !== true;
    const check = getCheck(operation, part);
    return !check || check(part === 'body' ? value : { ...(value as Texts | undefined) });
  }

  /** Returns the schema with all schemas that apply to the same value, in any of its branches. */
  function spread(schema: Schema | undefined): readonly Schema[] {
    if (!isObject(schema)) return [];
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
    if (name !== undefined) return spread(document.components.schemas[name]);
    const { allOf, anyOf, oneOf, then, else: other } = schema;
    const branches = [allOf, anyOf, oneOf].flatMap(toList);
    return [schema, ...[...branches, then as Schema, other as Schema].flatMap(spread)];
  }
  const getProperty = (schemas: readonly Schema[], name: string): readonly Schema[] =>
    schemas.flatMap(({ properties }) => spread((properties as Record<string, Schema> | undefined)?.[name]));
  const getItems = (schemas: readonly Schema[]): readonly Schema[] =>
    schemas.flatMap(({ items }) => spread(items as Schema | undefined));
  const getNumbers = (schemas: readonly Schema[], keyword: string): number[] => [
    ...new Set(schemas.flatMap((schema) => (typeof schema[keyword] === 'number' ? schema[keyword] : []))),
  ];

  function changeText(text: string, schemas: readonly Schema[], texts: readonly string[] = TEXTS): string[] {
    const isFree = schemas.every(({ pattern, format }) => pattern === undefined && format === undefined);
    const lengths = [
      ...getNumbers(schemas, 'maxLength').flatMap((max) => (isFree ? [max, max + 1] : [max + 1])),
      ...getNumbers(schemas, 'minLength').map((min) => min - 1),
    ];
    const members = schemas.flatMap(({ enum: values }) => toList(values) as readonly unknown[]);
    return [
      ...texts,
      ...schemas.flatMap(({ format }) => TEXTS_OF_FORMAT[String(format)] ?? []),
      ` ${text} `,
      `${text}\n${text}`,
      ...lengths.map((length) => stretch(text, length)),
      ...members.filter((member) => typeof member === 'string'),
    ];
  }

  /** Returns other values, each with one change. */
  function change(value: unknown, schemas: readonly Schema[], kept: readonly string[] = []): unknown[] {
    const others = [null, true, 7, 'text', [], {}];
    if (typeof value === 'string') return [...others, ...changeText(value, schemas)];
    if (typeof value === 'number') {
      const bounds = ['minimum', 'maximum'].flatMap((keyword) => getNumbers(schemas, keyword));
      return [
        ...others,
        value + 0.5,
        String(value),
        -1,
        ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1]),
      ];
    }
    if (Array.isArray(value)) {
      const [first, ...rest] = value as unknown[];
      const counts = ['minItems', 'maxItems'].flatMap((keyword) => getNumbers(schemas, keyword));
      return [
        ...others,
        ...counts.flatMap((count) => [count - 1, count, count + 1]).filter((count) => count > 0)
          .map((count) => Array.from({ length: count }, () => first)),
        ...change(first, getItems(schemas), kept).map((changed) => [changed, ...rest]),
      ]; // oxfmt-ignore
    }
    if (!isObject(value)) return others;
    const entries = Object.entries(value);
    const changeable = entries.filter(([name]) => !kept.includes(name));
    return [
      ...others,
      { ...value, unknownField: 1 },
      ...changeable.map(([name]) => Object.fromEntries(entries.filter(([other]) => other !== name))),
      ...changeable.flatMap(([name, own]) =>
        change(own, getProperty(schemas, name), kept).map((changed) => ({ ...value, [name]: changed })),
      ),
    ];
  }

  function changePart(request: DocumentedRequest, part: Part): unknown[] {
    const value = request[part];
    const schemas = spread(getSchema(find(request.operationId), part));
    if (value === undefined) return [];
    const { kept = [] } = request;
    if (part === 'body') return [undefined, ...change(value, schemas, kept)];
    const texts = Object.entries(value as Texts);
    const changeable = texts.filter(([name]) => !kept.includes(name));
    const changes = changeable.flatMap(([name, text]) =>
      changeText(text, getProperty(schemas, name), part === 'query' ? TEXTS : SHORT_TEXTS)
        .filter((changed) => part !== 'headers' || /^[!-~]+( [!-~]+)*$/.test(changed))
        .map((changed) => ({ ...(value as Texts), [name]: changed })),
    );
    const others = changeable.map(([name]) => Object.fromEntries(texts.filter(([other]) => other !== name)));
    return part === 'query' ? [...changes, ...others, { ...(value as Texts), unknown: '1' }] : changes;
  }

  /** The names of all fields that the document describes, such as `body.smtp.host`. */
  const listNames = (schemas: readonly Schema[], prefix: string): string[] =>
    [...new Set(schemas.flatMap(({ properties }) => Object.keys(properties ?? {})))].flatMap((name) => {
      const own = getProperty(schemas, name);
      const path = `${prefix}.${name}`;
      return [path, ...listNames(own, path), ...listNames(getItems(own), path)];
    });
  const listUsed = (value: unknown, prefix: string): string[] =>
    Array.isArray(value)
      ? value.flatMap((item) => listUsed(item, prefix))
      : Object.entries(isObject(value) ? value : {}).flatMap(([name, own]) => [
          `${prefix}.${name}`,
          ...listUsed(own, `${prefix}.${name}`),
        ]);

  return {
    /** Returns whether the document allows the request. */
    allows: (request: DocumentedRequest): boolean =>
      parts.every((part) => isValid(find(request.operationId), part, request[part])),

    /** Returns requests that differ from a valid one in one place each. */
    change: (request: DocumentedRequest): DocumentedRequest[] =>
      (request.changed ?? parts).flatMap((part) =>
        changePart(request, part).map((changed) => ({ ...request, [part]: changed })),
      ),

    /** Returns the parameters and fields of the document that none of the requests has. */
    findMissing: (requests: readonly DocumentedRequest[]): string[] =>
      operations.flatMap((operation) => {
        const own = requests.filter(({ operationId }) => operationId === operation.operationId);
        const used = new Set(
          own.flatMap((request) => parts.flatMap((part) => listUsed(request[part], part))),
        );
        return parts
          .flatMap((part) => listNames(spread(getSchema(operation, part)), part))
          .filter((name) => !used.has(name))
          .map((name) => `${operation.operationId} ${name}`);
      }),

    /** Sends the request. */
    send(url: string, request: DocumentedRequest, options: CallOptions = {}): Promise<Answer> {
      const { operationId, path: values = {}, query, headers, body } = request;
      const { method, path } = find(operationId);
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
        encodeURIComponent(values[name] ?? ''),
      );
      const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
      return callUrl(`${url}${filled}${search}`, method.toUpperCase(), {
        ...options,
        ...(body !== undefined && { body }),
        headers: { ...options.headers, ...headers },
      });
    },
  };
}

export type OpenDocument = ReturnType<typeof openDocument>;

const CONCURRENCY = 8;

/**
 * Sends valid requests and their changes.
 *
 * @param send - returns how the service answers.
 * @returns the requests on which the service and the document disagree, and requests that fail with 500.
 */
export async function findDisagreements(
  document: OpenDocument,
  requests: readonly DocumentedRequest[],
  send: (request: DocumentedRequest) => Promise<Pick<Answer, 'status' | 'text'>>,
): Promise<string[]> {
  const distinct = new Map<string, DocumentedRequest>();
  for (const { changed: _, kept: __, ...request } of [...requests, ...requests.flatMap(document.change)])
    distinct.set(JSON.stringify(request), request);
  const all = [...distinct];
  const found: string[] = [];
  for (let start = 0; start < all.length; start += CONCURRENCY)
    await Promise.all(
      all.slice(start, start + CONCURRENCY).map(async ([shown, request]) => {
        const { status, text } = await send(request);
        const isAllowed = document.allows(request);
        if (isAllowed === (status !== 400) && status < 500) return;
        const verdict = isAllowed ? 'allows' : 'refuses';
        found.push(`The document ${verdict} ${shown.slice(0, 500)}: ${status} ${text.slice(0, 200)}`);
      }),
    );
  return found;
}
