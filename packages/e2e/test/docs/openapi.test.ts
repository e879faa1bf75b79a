import { SERVICES } from '@platform/local/services';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { type Demand, demands } from '../authority/rules.js';
import { read } from './files.js';

/* What a programmer finds in the OpenAPI documents, of every operation. */

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}
interface Document {
  readonly info: { readonly license?: { readonly identifier: string } };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

const documents = SERVICES.map(({ name }) => {
  const document = JSON.parse(read(`services/${name}/openapi.json`)) as Document;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return [name, document, operations] as const;
});

/** Returns what `check` finds wrong, each with its operation. */
const findFaults = (operations: readonly Operation[], check: (operation: Operation) => readonly string[]) => {
  expect(operations.length).toBeGreaterThan(10);
  return operations.flatMap((one) => check(one).map((fault) => `${one.operationId}: ${fault}`));
};

test.each(documents)(
  '%s has a licence, and declares and describes the tags of its operations',
  (_name, document, operations) => {
    expect(document.info.license?.identifier).toBe('Apache-2.0');
    const used = new Set(operations.flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
    expect(document.tags.filter(({ description }) => description === '')).toEqual([]);
  },
);

test.each(documents)(
  'API-30 every operation of %s says more than its summary, and who may call it',
  (_name, _document, operations) => {
    const faults = findFaults(operations, ({ description }) => {
      const parts = description.split('\n\n');
      const callers = parts.filter((part) => part.startsWith('Callers: '));
      const own = parts.filter((part) => !/^Callers: |CONFIRMATION_REQUIRED/.test(part));
      return [
        ...(own.join('').length < 20 ? ['says no more'] : []),
        ...(callers.length === 1 ? [] : ['has no callers']),
      ];
    });
    expect(faults).toEqual([]);
  },
);

/** The kinds of credentials that the table of who may call what expects. */
function toSchemes({ credential, scope }: Demand): readonly string[] {
  if (credential === 'none' || credential === 'secret') return [];
  if (credential === 'session') return ['session'];
  if (credential === 'pat') return ['token'];
  const isDelegable = scope !== 'pat:write';
  const tokens = isDelegable ? ['token', 'oauth'] : ['token'];
  return credential === 'token' ? tokens : ['session', ...tokens];
}

test.each(documents)(
  'API-31 every operation of %s lists the credentials and scopes that it takes',
  (_name, document, operations) => {
    const faults = findFaults(operations, ({ operationId, security }) => {
      const demand = demands.get(operationId) as Demand;
      const accepted = security.flatMap((one) => Object.keys(one));
      const scopes = new Set(security.flatMap((one) => Object.values(one).flat()));
      const isRight =
        accepted.toString() === toSchemes(demand).toString() &&
        [...scopes].toString() === (demand.scope ?? '');
      const unknown = accepted.filter((scheme) => document.components.securitySchemes[scheme] === undefined);
      return isRight && unknown.length === 0 ? [] : [JSON.stringify(security)];
    });
    expect(faults).toEqual([]);
  },
);

test.each(documents)(
  'API-32 every operation of %s lists its error codes, with an example of each, and a default',
  (_name, document, operations) => {
    const { examples } = document.components;
    const faults = findFaults(operations, ({ responses }) =>
      Object.entries(responses).flatMap(([status, { description, content }]) => {
        if (/^[23]/.test(status)) return [];
        const media = content?.['application/json'];
        const codes = Object.keys(media?.examples ?? {});
        const isListed = codes.every(
          (code) => description.includes(`\`${code}\``) && examples[code] !== undefined,
        );
        // A few operations have an error of their own form.
        const isOwn = media?.example !== undefined && media.schema.$ref !== '#/components/schemas/Error';
        return (codes.length > 0 && isListed) || isOwn ? [] : [`${status} has no codes`];
      }),
    );
    expect(faults).toEqual([]);
    expect(operations.filter(({ responses }) => !responses['default'])).toEqual([]);
  },
);

test.each(documents)(
  'API-33 every response of %s has its request id, and 429 and 503 when to try again',
  (_name, _document, operations) => {
    const faults = findFaults(operations, ({ responses }) =>
      Object.entries(responses).flatMap(([status, { headers }]) => {
        const wanted = ['x-request-id', ...(status === '429' || status === '503' ? ['retry-after'] : [])];
        return wanted
          .filter((header) => headers[header] === undefined)
          .map((header) => `${status} lacks ${header}`);
      }),
    );
    expect(faults).toEqual([]);
  },
);

test.each(documents)(
  'API-34 every body of %s has an example that its schema allows',
  (_name, document, operations) => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });
    const addFormats = ('default' in ajvFormats ? ajvFormats.default : ajvFormats) as (
      to: Ajv2020,
    ) => Ajv2020;
    addFormats(ajv).addSchema({ $id: 'api', ...document });
    const check = (what: string, { schema, example }: Media): string[] => {
      if (example === undefined) return [`${what} has no example`];
      const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object;
      const isValid = ajv.compile(absolute);
      return isValid(example) ? [] : [`${what}: ${ajv.errorsText(isValid.errors)}`];
    };
    const faults = findFaults(operations, ({ requestBody, responses }) => [
      ...Object.values(requestBody?.content ?? {}).flatMap((media) => check('request', media)),
      ...Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, { content = {} }]) =>
          Object.values(content).flatMap((media) => check(status, media)),
        ),
    ]);
    expect(faults).toEqual([]);
  },
);
