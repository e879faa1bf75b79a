import { givenInstant } from '@platform/service-kit';
import { Type } from 'typebox';
import { CRON_PATTERN } from './parse-cron.js';
import { RUN_WORKER, type RunWorker, runWorkers } from './run-worker.js';

/*
 * The schedule configuration (CRAWL-4). Each type is validated with its own schema rather than with one union, so
 * that the faults of a `daily` schedule are described in terms of `daily`.
 */

export const missedRunPolicies = ['run_once', 'skip'] as const;
export type MissedRunPolicy = (typeof missedRunPolicies)[number];

/** One day; a longer jitter would move a daily run past the next one. */
const MAX_JITTER_MS = 86_400_000;
const MAX_CRON_LENGTH = 1_000;

const base = {
  isEnabled: Type.Boolean({ default: true }),
  timezone: Type.String({
    default: 'UTC',
    minLength: 1,
    maxLength: 64,
    description: 'A name of the tz database that the platform knows, such as `Europe/Berlin`.',
    'x-documented': { pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$' },
  }),
  jitterMs: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: MAX_JITTER_MS,
    description: 'Moves every run later by one fixed part of this, different for each organisation.',
  }),
  missedRunPolicy: Type.Unsafe<MissedRunPolicy>({
    enum: [...missedRunPolicies],
    default: 'run_once',
    description: 'What happens to a run that could not start at its time: one late run, or none.',
  }),
};
const hour = Type.Integer({ minimum: 0, maximum: 23 });
const minute = Type.Integer({ minimum: 0, maximum: 59 });
const strict = { additionalProperties: false };

const Hourly = Type.Object(
  {
    scheduleType: Type.Literal('hourly'),
    minute,
    interval: Type.Integer({ minimum: 1, maximum: 24, default: 1 }),
    ...base,
  },
  strict,
);
const Daily = Type.Object({ scheduleType: Type.Literal('daily'), hour, minute, ...base }, strict);
const Weekly = Type.Object(
  {
    scheduleType: Type.Literal('weekly'),
    daysOfWeek: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), { minItems: 1, maxItems: 7 }),
    hour,
    minute,
    ...base,
  },
  strict,
);
const Monthly = Type.Object(
  {
    scheduleType: Type.Literal('monthly'),
    dayOfMonth: Type.Integer({ minimum: 1, maximum: 31 }),
    hour,
    minute,
    ...base,
  },
  strict,
);
const Custom = Type.Object(
  {
    scheduleType: Type.Literal('custom'),
    cronExpression: Type.String({
      pattern: '^(\\S+\\s+){4}\\S+$',
      maxLength: MAX_CRON_LENGTH,
      description:
        'Minute, hour, day of the month, month and day of the week. Names are those of months and weekdays (`JAN`, `MON`), ranges ascend, and it fires at least once within the next five years.',
      'x-documented': { pattern: CRON_PATTERN },
    }),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    ...base,
  },
  strict,
);
const Once = Type.Object(
  {
    scheduleType: Type.Literal('once'),
    scheduledTime: Type.String({
      ...givenInstant,
      maxLength: 40,
      description: 'With its offset. To schedule, it has to be in the future.',
    }),
    ...base,
  },
  strict,
);

// oxfmt-ignore
export const configSchemas = {
  hourly: Hourly, daily: Daily, weekly: Weekly, monthly: Monthly, custom: Custom, once: Once,
} as const;
export type ScheduleType = keyof typeof configSchemas;

export const ScheduleConfig = Type.Union([Hourly, Daily, Weekly, Monthly, Custom, Once], {
  title: 'ScheduleConfig',
});
export type ScheduleConfig = Type.Static<typeof ScheduleConfig>;
export type OneOffConfig = Type.Static<typeof Once>;
export type RecurringConfig = Exclude<ScheduleConfig, OneOffConfig>;

/** The properties of the body besides the configuration, with the limits of CRAWL-5. */
export const optionProperties = {
  priority: Type.Integer({
    minimum: 1,
    maximum: 10,
    default: 5,
    description: "Passed to the connector's endpoint; runs start in the order in which they are due.",
  }),
  maxRetries: Type.Integer({ minimum: 0, maximum: 10, default: 3, description: 'After the first attempt.' }),
  timeout: Type.Integer({
    minimum: 1_000,
    maximum: 600_000,
    default: 300_000,
    description: 'Of one attempt, ms.',
  }),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Passed to whoever crawls. It nests at most 32 levels deep.',
    }),
  ),
  worker: Type.Unsafe<RunWorker>({
    enum: [...runWorkers],
    default: 'event',
    description: RUN_WORKER,
  }),
  endpointId: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'With `worker: endpoint` alone: the endpoint.',
    }),
  ),
  fullEvery: Type.Optional(
    Type.String({
      pattern: '^P[1-9][0-9]{0,2}D$',
      description: 'How often a full crawl is due, as an ISO 8601 duration in days: `P7D`.',
    }),
  ),
};
/** `validate-schedule.ts` checks it, and names the field. */
const documentedEndpoint = {
  if: { properties: { worker: { const: 'endpoint' } }, required: ['worker'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['endpointId'] },
  else: { not: { required: ['endpointId'] } },
};
/** `save-schedule.ts` checks it. A configuration that is previewed may be disabled. */
const isDisabled = {
  required: ['scheduleConfig'],
  properties: { scheduleConfig: { required: ['isEnabled'], properties: { isEnabled: { const: false } } } },
};
export const ScheduleBody = Type.Object(
  { scheduleConfig: ScheduleConfig, ...optionProperties },
  { ...strict, 'x-documented': { allOf: [documentedEndpoint], not: isDisabled } },
);
export type ScheduleBody = Type.Static<typeof ScheduleBody>;

export const PreviewBody = Type.Object({ scheduleConfig: ScheduleConfig }, strict);
