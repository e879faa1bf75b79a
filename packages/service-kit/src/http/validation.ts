import { Ajv, type ErrorObject, type Options } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import { isDisplayName } from '../data/display-name.js';
import { readEmailAddress } from '../data/email-address.js';
import type { FaultDetail } from '../errors.js';

const shared: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  addUsedSchema: false,
  // The schemas are built by TypeBox. To check them, each Ajv would compile the meta-schema: 100 ms of every start.
  validateSchema: false,
  meta: false,
};

/** Ajv's own also takes a URN (`urn:uuid:…`), which PostgreSQL does not. */
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

function createAjv(options: Options): Ajv {
  const ajv = new Ajv({ ...shared, ...options });
  // ajv-formats is CommonJS: its default export is the plugin or a namespace, by loader.
  const plugin = ('default' in ajvFormats ? ajvFormats.default : ajvFormats) as (ajv: Ajv) => Ajv;
  return plugin(ajv)
    .addFormat('uuid', uuid)
    .addFormat('email', (text) => readEmailAddress(text) !== undefined)
    .addFormat('display-name', isDisplayName);
}

/**
 * Bodies are taken as they are (`"30"` is no number, a lone value is no list); what comes in
 * a URL is text, so there numbers and booleans are read from it.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  const bodies = createAjv({ coerceTypes: false });
  const urls = createAjv({ coerceTypes: true });
  return ({ schema, httpPart }) => (httpPart === 'body' ? bodies : urls).compile(schema as object);
}

type AjvFault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'> & {
  readonly message?: string | undefined;
};

/** In words, where the name of the format doesn't say what is wrong. */
const formatFaults: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  'display-name': 'must have a visible character, and no control or bidirectional ones',
};

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
        message: formatFaults[String(fault.params.format)] ?? fault.message ?? 'is invalid',
      };
    default:
      return { field: path || context, message: fault.message ?? 'is invalid' };
  }
}

/** At most this many faults are told of one request; more helps nobody. */
const MAX_FAULTS = 20;

/** Ajv's errors in the words of the API: a dotted field and what it must be. */
export const describeFaults = (faults: readonly AjvFault[], context: string): FaultDetail[] =>
  faults.slice(0, MAX_FAULTS).map((fault) => describeFault(fault, context));
