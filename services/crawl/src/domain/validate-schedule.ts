import { createValidatorCompiler, describeFaults, type FaultDetail } from '@platform/service-kit';
import { Type } from 'typebox';
import { nextCronTime, toCron } from './cron.js';
import { parseCron } from './parse-cron.js';
import {
  configSchemas,
  optionProperties,
  type ScheduleBody,
  type ScheduleConfig,
  type ScheduleType,
} from './schedule-config.js';
import { isTimeZone } from './time-zone.js';

/*
 * Validates a schedule's body without I/O: against the schema of its type first, then by the rules that a schema
 * cannot express. Defaults are filled in.
 */

const FIRES_WITHIN_YEARS = 5;

const compile = createValidatorCompiler();
const createCheck = (schema: unknown) =>
  compile({ schema, httpPart: 'body', method: 'POST', url: '' }) as ((value: unknown) => boolean) & {
    errors?: Parameters<typeof describeFaults>[0] | null;
  };

const configChecks = Object.fromEntries(
  Object.entries(configSchemas).map(([type, schema]) => [type, createCheck(schema)]),
) as Record<ScheduleType, ReturnType<typeof createCheck>>;
const toBodyCheck = (properties: Type.TProperties) =>
  createCheck(
    Type.Object({ scheduleConfig: Type.Unknown(), ...properties }, { additionalProperties: false }),
  );
const checkOptions = toBodyCheck(optionProperties);
const checkPreview = toBodyCheck({});

function runCheck(check: ReturnType<typeof createCheck>, value: unknown, context: string): FaultDetail[] {
  return check(value) ? [] : describeFaults(check.errors ?? [], context);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns why an expression is invalid; undefined when it is fine. */
function findSyntaxFault(cron: string): string | undefined {
  // Jenkins replaces `H` by a value that nobody has named.
  if (/h/i.test(cron.replaceAll(/thu/gi, ''))) return 'must not use H: name the value';
  try {
    parseCron(cron);
    return undefined;
  } catch (error) {
    return `is not a cron expression: ${(error as Error).message}`;
  }
}

/** Returns why a recurring schedule can't be run; undefined when it can. @param now - epoch ms. */
function findCronFault(cron: string, timezone: string, now: number): string | undefined {
  const fault = findSyntaxFault(cron);
  if (fault !== undefined) return fault;
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + FIRES_WITHIN_YEARS);
  const next = nextCronTime({ cron, timezone, offsetMs: 0 }, now);
  return next === undefined || next > latest.getTime()
    ? `never fires within the next ${FIRES_WITHIN_YEARS} years`
    : undefined;
}

function findConfigFaults(config: ScheduleConfig, now: number): FaultDetail[] {
  if (!isTimeZone(config.timezone))
    return [
      {
        field: 'scheduleConfig.timezone',
        message: 'is not a time zone of the tz database, such as Europe/Berlin',
      },
    ];
  if (config.scheduleType === 'once') return [];
  const fault = findCronFault(toCron(config), config.timezone, now);
  const field = config.scheduleType === 'custom' ? 'cronExpression' : 'scheduleType';
  return fault === undefined ? [] : [{ field: `scheduleConfig.${field}`, message: fault }];
}

type ReadConfig = { readonly config: ScheduleConfig } | { readonly faults: readonly FaultDetail[] };

/** @returns the configuration with its defaults, or its faults. */
function readScheduleConfig(given: unknown, now: number): ReadConfig {
  if (!isObject(given)) return { faults: [{ field: 'scheduleConfig', message: 'is required: an object' }] };
  const config = { ...given };
  const { scheduleType } = config;
  if (typeof scheduleType !== 'string' || !Object.hasOwn(configChecks, scheduleType))
    return {
      faults: [
        {
          field: 'scheduleConfig.scheduleType',
          message: `must be one of ${Object.keys(configChecks).join(', ')}`,
        },
      ],
    };
  const faults = runCheck(configChecks[scheduleType as ScheduleType], config, '').map(
    ({ field, message }) => ({
      field: field === '' ? 'scheduleConfig' : `scheduleConfig.${field}`,
      message,
    }),
  );
  const found = faults.length > 0 ? faults : findConfigFaults(config as ScheduleConfig, now);
  return found.length > 0 ? { faults: found } : { config: config as ScheduleConfig };
}

/** Deeper nesting could overflow the stack of PostgreSQL or of a consumer. */
const MAX_METADATA_DEPTH = 32;

function isTooDeep(root: unknown): boolean {
  const pending: [value: unknown, depth: number][] = [[root, 0]];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const [value, depth] = entry;
    if (value === null || typeof value !== 'object') continue;
    if (depth > MAX_METADATA_DEPTH) return true;
    for (const child of Object.values(value)) pending.push([child, depth + 1]);
  }
  return false;
}

const metadataFaults = (metadata: unknown): FaultDetail[] =>
  isTooDeep(metadata)
    ? [{ field: 'metadata', message: `must not nest deeper than ${MAX_METADATA_DEPTH} levels` }]
    : [];

function findEndpointFaults({ worker, endpointId }: Readonly<Record<string, unknown>>): FaultDetail[] {
  if (worker === 'endpoint' && endpointId === undefined)
    return [{ field: 'endpointId', message: 'is required with worker: endpoint' }];
  if (worker !== 'endpoint' && endpointId !== undefined)
    return [{ field: 'endpointId', message: 'is for worker: endpoint alone' }];
  return [];
}

const notAnObject = { faults: [{ field: 'body', message: 'must be a JSON object' }] };

/** Reads the configuration in a body, whose other faults are known. */
function readConfigOf(
  body: Readonly<Record<string, unknown>>,
  now: number,
  others: readonly FaultDetail[],
): ReadConfig {
  const read = readScheduleConfig(body['scheduleConfig'], now);
  const faults = [
    ...('faults' in read ? read.faults : []),
    ...others.filter(({ field }) => field !== 'scheduleConfig'),
  ];
  return faults.length > 0 ? { faults } : read;
}

/** @returns the configuration to preview with its defaults, or all faults of the body. `now` in epoch ms. */
export const readPreviewBody = (given: unknown, now: number): ReadConfig =>
  isObject(given) ? readConfigOf(given, now, runCheck(checkPreview, given, 'body')) : notAnObject;

/** @returns the body with its defaults, or all of its faults. `now` in epoch ms. */
export function readScheduleBody(
  given: unknown,
  now: number,
): { readonly body: ScheduleBody } | { readonly faults: readonly FaultDetail[] } {
  if (!isObject(given)) return notAnObject;
  const body = { ...given };
  const faults = [
    ...runCheck(checkOptions, body, 'body'),
    ...metadataFaults(body['metadata']),
    ...findEndpointFaults(body),
  ];
  const read = readConfigOf(body, now, faults);
  return 'faults' in read ? read : { body: { ...body, scheduleConfig: read.config } as ScheduleBody };
}
