import { browserZone } from '../../look.ts';
import type { Schedule, ScheduleConfig, ScheduleConfigInput } from './api.ts';

/** The state of the editor: every field of every type, so that changing the type loses nothing. */
export interface Draft {
  readonly scheduleType: ScheduleConfig['scheduleType'];
  readonly timezone: string;
  readonly minute: number;
  readonly interval: number;
  readonly hour: number;
  readonly daysOfWeek: readonly number[];
  readonly dayOfMonth: number;
  readonly cronExpression: string;
  /** A time such as 2026-11-22T08:30, in the browser's zone. */
  readonly localTime: string;
  readonly jitterMinutes: number;
  readonly missedRunPolicy: ScheduleConfig['missedRunPolicy'];
  readonly isEnabled: boolean;
}

const MINUTE_MS = 60_000;

const defaults: Draft = {
  scheduleType: 'daily',
  timezone: browserZone,
  minute: 0,
  interval: 1,
  hour: 2,
  daysOfWeek: [1],
  dayOfMonth: 1,
  cronExpression: '0 2 * * 1-5',
  localTime: '',
  jitterMinutes: 0,
  missedRunPolicy: 'run_once',
  isEnabled: true,
};

const toLocalTime = (instant: string): string => {
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
};

export function toDraft(schedule: Schedule | undefined): Draft {
  if (!schedule) return defaults;
  const { scheduleConfig: config } = schedule.data;
  return {
    ...defaults,
    ...config,
    jitterMinutes: Math.round(config.jitterMs / MINUTE_MS),
    ...(config.scheduleType === 'once' && { localTime: toLocalTime(config.scheduledTime) }),
  };
}

export const hasFiveFields = (cron: string): boolean => cron.trim().split(/\s+/).length === 5;

/** Returns the configuration as the API takes it, or undefined while a field is missing. */
export function toConfig(draft: Draft): ScheduleConfigInput | undefined {
  const { scheduleType, timezone, missedRunPolicy, isEnabled, minute, hour } = draft;
  const common = { timezone, missedRunPolicy, isEnabled, jitterMs: draft.jitterMinutes * MINUTE_MS };
  switch (scheduleType) {
    case 'hourly':
      return { ...common, scheduleType, minute, interval: draft.interval };
    case 'daily':
      return { ...common, scheduleType, minute, hour };
    case 'weekly':
      if (draft.daysOfWeek.length === 0) return undefined;
      return { ...common, scheduleType, minute, hour, daysOfWeek: [...draft.daysOfWeek] };
    case 'monthly':
      return { ...common, scheduleType, minute, hour, dayOfMonth: draft.dayOfMonth };
    case 'custom':
      if (!hasFiveFields(draft.cronExpression)) return undefined;
      return { ...common, scheduleType, cronExpression: draft.cronExpression.trim() };
    case 'once':
      if (draft.localTime === '') return undefined;
      return {
        ...common,
        scheduleType,
        timezone: defaults.timezone,
        scheduledTime: new Date(draft.localTime).toISOString(),
      };
    default:
      return scheduleType satisfies never;
  }
}
