import { isIP } from 'node:net';
import { integer, list, oneOf, port, text, url, type Variable, withDefault } from './config.js';

export const DEFAULT_DATABASE_TIMEOUT_MS = 1_000;

/** Accepts an address or a CIDR range, but not a range of all addresses. */
function isAddressRange(item: string): boolean {
  const [address = '', prefix, ...rest] = item.split('/');
  const family = isIP(address);
  if (prefix === undefined || family === 0) return family !== 0;
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : 0;
  return rest.length === 0 && bits >= 1 && bits <= (family === 4 ? 32 : 128);
}

const addressRanges: Variable<readonly string[]> = {
  mustBe:
    'a comma-separated list of addresses or CIDR ranges. Name those of the gateway and of identity: ' +
    'whoever has one of them can claim any address, so a range of everybody (/0) is refused',
  parse(value) {
    const items = list('').parse(value) ?? [];
    return items.every(isAddressRange) ? items : undefined;
  },
};

const pairs = (name: string, ofName: RegExp): Variable<Readonly<Record<string, string>>> => ({
  mustBe: `a comma-separated list of <${name}>=<value>`,
  parse(given) {
    const entries = (list('').parse(given) ?? []).map((item) => /^([^=]+)=(.+)$/.exec(item)?.slice(1) ?? []);
    return entries.every(([key = '']) => ofName.test(key))
      ? Object.fromEntries(entries.map(([key = '', value = '']) => [key, decodeURIComponentOrSelf(value)]))
      : undefined;
  },
});

function decodeURIComponentOrSelf(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

// oxfmt-ignore
const samplers = [
  'always_on', 'always_off', 'traceidratio',
  'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio',
] as const;

const ratio: Variable<number> = {
  mustBe: 'a number from 0 to 1',
  parse(value) {
    const number = /^\d(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    return number <= 1 ? number : undefined;
  },
};

/** Parses a boolean as the OpenTelemetry specification defines it, in any case. */
const flag: Variable<boolean> = {
  mustBe: 'true or false',
  parse(value) {
    if (!/^(?:true|false)$/i.test(value)) return undefined;
    return value.toLowerCase() === 'true';
  },
};

/** Names and meaning are those of the OpenTelemetry specification. All others have an effect only with an endpoint. */
const tracingVariables = {
  OTEL_SDK_DISABLED: withDefault(flag, false),
  /** Without an endpoint, no traces are recorded. */
  OTEL_EXPORTER_OTLP_ENDPOINT: withDefault(url(['http:', 'https:'], 'http://collector:4318'), undefined),
  OTEL_EXPORTER_OTLP_HEADERS: withDefault(pairs('header', /^[\w-]+$/), {}),
  /** The default is `service.name` of the attributes, or else the service's own name. */
  OTEL_SERVICE_NAME: withDefault(text('the name of this service in traces'), undefined),
  OTEL_RESOURCE_ATTRIBUTES: withDefault(pairs('name', /^[\w.-]+$/), {}),
  OTEL_TRACES_SAMPLER: withDefault(oneOf(...samplers), 'parentbased_always_on' as const),
  OTEL_TRACES_SAMPLER_ARG: withDefault(ratio, undefined),
} as const;

const commit: Variable<string> = {
  mustBe: 'the id of a commit: 7 to 64 hexadecimal digits',
  parse: (value) => (/^[0-9a-f]{7,64}$|^unknown$/.test(value) ? value : undefined),
};

/** The variables that every service reads. */
export const serviceVariables = {
  HOST: withDefault(text('an address to listen on'), '0.0.0.0'),
  PORT: withDefault(port(), 0),
  LOG_LEVEL: withDefault(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info' as const,
  ),
  TRUST_PROXY: withDefault(addressRanges, []),
  /**
   * The time limit of a database query, which includes the wait for a connection; without a database, a request fails
   * after it.
   * Larger values would exceed the leases of runs and the time after which a sender of mails is considered dead.
   */
  DATABASE_TIMEOUT_MS: withDefault(integer(100, 5_000), DEFAULT_DATABASE_TIMEOUT_MS),
  SHUTDOWN_DELAY_MS: withDefault(integer(0, 60_000), 0),
  /** The commit that the program was built from; the image sets it. */
  COMMIT: withDefault(commit, 'unknown'),
  ...tracingVariables,
} as const;
