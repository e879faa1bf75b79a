import { crawls } from '#text/crawls';
import { shownZone } from '../../look.ts';
import type { ScheduleConfig } from './api.ts';

const t = crawls.words;
const pad = (value: number): string => String(value).padStart(2, '0');

/** Says when a schedule runs. A cron expression stands for itself; the editor explains it. */
export function describeSchedule(config: ScheduleConfig): string {
  const zone = config.timezone;
  switch (config.scheduleType) {
    case 'hourly':
      return t.hourly(config.interval, pad(config.minute), zone);
    case 'daily':
      return t.daily(`${pad(config.hour)}:${pad(config.minute)}`, zone);
    case 'weekly':
      return t.weekly(
        config.daysOfWeek.toSorted((a, b) => a - b).map((day) => t.days[day] ?? ''),
        `${pad(config.hour)}:${pad(config.minute)}`,
        zone,
      );
    case 'monthly':
      return t.monthly(config.dayOfMonth, `${pad(config.hour)}:${pad(config.minute)}`, zone);
    case 'custom':
      return t.custom(config.description ?? config.cronExpression, zone);
    case 'once':
      return t.once(new Date(config.scheduledTime), shownZone);
    default:
      return config satisfies never;
  }
}
