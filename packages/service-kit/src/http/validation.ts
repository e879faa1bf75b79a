import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { textFormats } from '../data/text-formats.js';
import type { FaultDetail } from '../errors.js';

const shared: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  addUsedSchema: false,
  // TypeBox builds valid schemas. Checking them would make each Ajv compile the meta-schema, 100 ms of every start.
  validateSchema: false,
  meta: false,
};

/** Ajv's own format also accepts a URN (`urn:uuid:…`), which PostgreSQL does not. */
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

function createAjv(options: Options): Ajv {
  const ajv = new Ajv({ ...shared, ...options });
  // ajv-formats is CommonJS: its default export is the plugin or a namespace, by loader.
  const plugin = ('default' in ajvFormats ? ajvFormats.default : ajvFormats) as (ajv: Ajv) => Ajv;
  plugin(ajv).addFormat('uuid', uuid);
  const { validate: isDateTime } = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => isDateTime(text) && Number.isFinite(Date.parse(text)));
  for (const [name, { isValid, documented }] of Object.entries(textFormats))
    for (const known of new Set([name, documented.format ?? name])) ajv.addFormat(known, isValid);
  return ajv;
}

/**
 * Creates Fastify's validator. Bodies are not converted (`"30"` is no number, a single value is no list). Values in a URL
 * are text, so they are converted to numbers and booleans.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  const bodies = createAjv({ coerceTypes: false });
  const urls = createAjv({ coerceTypes: true });
  return ({ schema, httpPart }) =>
    compileAtFirstUse(() => (httpPart === 'body' ? bodies : urls).compile(schema as object));
}

/** Puts off compiling a schema: a service has hundreds, and a replica needs a few of them soon. */
function compileAtFirstUse(compile: () => ValidateFunction): ReturnType<FastifySchemaCompiler<unknown>> {
  let compiled: ValidateFunction | undefined;
  const validate: ReturnType<FastifySchemaCompiler<unknown>> = (data: unknown) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
}

/** Creates Fastify's serializer, which compiles each schema at its first use, as the validator does. */
export const createSerializerCompiler =
  (): FastifySerializerCompiler<unknown> =>
  ({ schema }) => {
    let serialize: ((data: unknown) => string) | undefined;
    return (data) => {
      serialize ??= fastJsonStringify(schema as Schema);
      return serialize(data);
    };
  };

type AjvFault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'> & {
  readonly schemaPath?: string | undefined;
  readonly message?: string | undefined;
};

/** Describes the fault of a format whose name alone does not explain it. */
const describeFormat = (format: unknown): string | undefined =>
  format === 'date-time'
    ? 'must be an instant with its offset (ISO 8601), such as 2026-11-30T08:00:00Z'
    : textFormats[String(format)]?.fault;

function describeFault(fault: AjvFault, context: string): FaultDetail {
  const path = fault.instancePath.slice(1).replaceAll('/', '.');
  const below = (name: unknown) => (path === '' ? String(name) : `${path}.${String(name)}`);
  switch (fault.keyword) {
    case 'required':
      return { field: below(fault.params.missingProperty), message: 'is required' };
    case 'additionalProperties':
      return { field: below(fault.params.additionalProperty), message: 'is not a known field' };
    case 'enum':
      return {
        field: path,
        message: `must be one of ${(fault.params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
      };
    case 'format':
      return {
        field: path || context,
        message: describeFormat(fault.params.format) ?? fault.message ?? 'is invalid',
      };
    default:
      return { field: path || context, message: fault.message ?? 'is invalid' };
  }
}

/** Returns the path of the union whose branch requires another type, or undefined for any other fault. */
const findUnion = ({ schemaPath = '' }: AjvFault): string | undefined =>
  /^(.*\/anyOf)\/\d+\/type$/.exec(schemaPath)?.[1];

const isNullBranch = (fault: AjvFault): boolean =>
  fault.params.type === 'null' && findUnion(fault) !== undefined;

/**
 * Ajv reports the faults of each branch of a union, and the union itself. Of a value that may be null, only the faults of
 * the other branch say what is wrong.
 */
function omitNullBranches(faults: readonly AjvFault[]): AjvFault[] {
  const nullable = new Set(faults.filter(isNullBranch).map(findUnion));
  return faults
    .filter((fault) => !isNullBranch(fault) && !(fault.keyword === 'anyOf' && nullable.has(fault.schemaPath)))
    .map((fault) =>
      nullable.has(findUnion(fault)) && fault.instancePath !== ''
        ? { ...fault, message: `${fault.message ?? ''} or null` }
        : fault,
    );
}

/** The largest number of faults that are reported for one request. */
const MAX_FAULTS = 20;

/** Converts Ajv's errors to the API's form: a dotted field, and the form that it must have. */
export const describeFaults = (faults: readonly AjvFault[], context: string): FaultDetail[] =>
  omitNullBranches(faults)
    .slice(0, MAX_FAULTS)
    .map((fault) => describeFault(fault, context));
