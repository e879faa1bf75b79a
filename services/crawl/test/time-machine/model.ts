import { DAY_MS, HOUR_MS } from '@platform/service-kit';
import type { Period, ZoneRules } from './zone-rules.js';

/*
 * A second opinion about the times of a schedule, which knows neither the service's code nor its library. It walks through
 * the days of a calendar, takes each time that the schedule names, and looks up when the clocks of the zone show it:
 *
 *   once      then
 *   twice     the first time; both times if the schedule names every hour
 *   never     as long after the change of the clocks as the time lay inside the gap
 *
 * A time of the clocks is the epoch ms at which a clock of UTC shows it.
 */

export interface Day {
  /** 1–12. */
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly daysInMonth: number;
}

/** What a cron expression names. */
export interface CronTimes {
  readonly kind: 'cron';
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly isDay: (day: Day) => boolean;
}

export type ScheduleTimes =
  | CronTimes
  /** From the first time at or after `anchorAt` at which the clocks show the minute. */
  | {
      readonly kind: 'interval';
      readonly minute: number;
      readonly everyHours: number;
      readonly anchorAt: number;
    }
  | { readonly kind: 'once'; readonly at: number };

/** Returns when the clocks show a time. The rules are those of the days around it. */
function findInstants(rules: ZoneRules, wall: number): readonly number[] {
  const instants = rules.flatMap(({ at, offset }, index) => {
    const instant = wall - offset;
    return instant >= at && instant < (rules[index + 1]?.at ?? Infinity) ? [instant] : [];
  });
  if (instants.length > 0) return instants;
  const skipping = rules.findIndex(
    ({ at, offset }, index) => wall < at + offset && wall >= at + (rules[index - 1]?.offset ?? Infinity),
  );
  const before = rules[skipping - 1];
  if (!before) throw new Error(`No clocks show or skip ${new Date(wall).toISOString()}`);
  return [wall - before.offset];
}

/** Returns the rules that are valid at some time of a period. */
const narrowRules = (rules: ZoneRules, { from, to }: Period): ZoneRules =>
  rules.filter(({ at }, index) => at <= to && (rules[index + 1]?.at ?? Infinity) >= from);

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function listCronTimes(
  { minutes, hours, isDay }: CronTimes,
  rules: ZoneRules,
  { from, to }: Period,
): number[] {
  const isEveryHour = hours.length === 24;
  const times = new Set<number>();
  const rulesNearby = narrowRules(rules, { from: from - 4 * DAY_MS, to: to + 4 * DAY_MS });
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS - 2 * DAY_MS;
  for (let midnight = firstDay; midnight < to + 2 * DAY_MS; midnight += DAY_MS) {
    const date = new Date(midnight);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    if (!isDay({ month: month + 1, day: date.getUTCDate(), weekday: date.getUTCDay(), daysInMonth }))
      continue;
    const rulesOfDay = narrowRules(rulesNearby, { from: midnight - DAY_MS, to: midnight + 2 * DAY_MS });
    for (const hour of hours)
      for (const minute of minutes) {
        const instants = findInstants(rulesOfDay, midnight + hour * HOUR_MS + minute * 60_000);
        for (const instant of isEveryHour ? instants : instants.slice(0, 1))
          if (instant > from && instant <= to) times.add(instant);
      }
  }
  return [...times].toSorted((one, other) => one - other);
}

/** Lists the times of a schedule after `from`, until `to`. */
export function listTimes(schedule: ScheduleTimes, rules: ZoneRules, period: Period): number[] {
  if (schedule.kind === 'cron') return listCronTimes(schedule, rules, period);
  if (schedule.kind === 'once')
    return schedule.at > period.from && schedule.at <= period.to ? [schedule.at] : [];
  const { minute, everyHours, anchorAt } = schedule;
  const everyHour: CronTimes = { kind: 'cron', minutes: [minute], hours: range(24), isDay: () => true };
  const [first] = listCronTimes(everyHour, rules, { from: anchorAt, to: anchorAt + DAY_MS });
  if (first === undefined) throw new Error('A day without an hour');
  const times: number[] = [];
  for (let at = first; at <= period.to; at += everyHours * HOUR_MS) if (at > period.from) times.push(at);
  return times;
}
