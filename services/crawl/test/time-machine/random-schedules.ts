import { DAY_MS } from '@platform/service-kit';
import type { Day, ScheduleTimes } from './model.js';

/* Random schedules: what a client sends, and what it means. */

export interface RandomSchedule {
  readonly config: Readonly<Record<string, unknown>>;
  readonly timezone: string;
  readonly jitterMs: number;
  /** Without the jitter. */
  readonly times: ScheduleTimes;
}

/** A field of a cron expression, and the values that it names. */
interface Field {
  readonly text: string;
  readonly names: (value: number) => boolean;
}

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Zones with half hours, quarters, Ramadan, changes at midnight or of two hours, or another name of theirs. */
// oxfmt-ignore
const LIVELY_ZONES = [
  'Australia/Lord_Howe', 'Australia/LHI', 'Africa/Casablanca', 'Africa/El_Aaiun', 'Asia/Gaza', 'Asia/Hebron',
  'Antarctica/Troll', 'America/Havana', 'Cuba', 'America/Santiago', 'Pacific/Easter', 'Asia/Beirut', 'Africa/Cairo',
  'America/Scoresbysund', 'America/Nuuk', 'America/Godthab', 'Atlantic/Azores', 'Pacific/Chatham', 'NZ-CHAT',
  'America/St_Johns', 'Asia/Jerusalem', 'Asia/Tel_Aviv', 'Europe/Dublin', 'Eire', 'Europe/Kyiv', 'Europe/Kiev',
  'Asia/Almaty', 'America/Asuncion', 'America/Vancouver', 'America/New_York', 'EST5EDT', 'US/Pacific', 'Europe/Berlin',
];

/** Makes a schedule that is set at `now`, in the zone or in one whose clocks are known for their changes. */
export function createRandomSchedule(random: () => number, zone: string, now: number): RandomSchedule {
  const below = (count: number): number => Math.floor(random() * count);
  const between = (first: number, last: number): number => first + below(last - first + 1);
  const isChosen = (probability: number): boolean => random() < probability;
  function choose<T>(choices: readonly T[]): T {
    return choices[below(choices.length)] as T;
  }

  /** One value, a range, or a step of either. `show` writes a value: `5`, `05` or `FRI`. */
  function chooseItem(first: number, last: number, show: (value: number) => string): Field {
    const low = between(first, last);
    const kind = choose([
      'value',
      'value',
      'range',
      'steps of a range',
      'steps of all',
      'steps from a value',
    ]);
    if (kind === 'value') return { text: show(low), names: (value) => value === low };
    if (kind === 'range' || kind === 'steps of a range') {
      const high = between(low, last);
      const step = kind === 'range' ? 1 : between(1, Math.max(2, last - first));
      const text = `${show(low)}-${show(high)}${kind === 'range' ? '' : `/${step}`}`;
      return { text, names: (value) => value >= low && value <= high && (value - low) % step === 0 };
    }
    const step = between(2, Math.max(2, Math.floor((last - first + 1) / 2)));
    const start = kind === 'steps of all' ? first : low;
    return {
      text: `${kind === 'steps of all' ? '*' : show(low)}/${step}`,
      names: (value) => value >= start && value <= last && (value - start) % step === 0,
    };
  }

  function chooseList(first: number, last: number, show: (value: number) => string = String): Field {
    const items = range(1, choose([1, 1, 1, 2, 3])).map(() => chooseItem(first, last, show));
    return {
      text: items.map(({ text }) => text).join(','),
      names: (value) => items.some(({ names }) => names(value)),
    };
  }

  const showNumber = (value: number): string =>
    isChosen(0.2) ? String(value).padStart(2, '0') : String(value);
  const showName = (names: readonly string[], first: number) => (value: number) => {
    const name = names[value - first];
    if (name === undefined || isChosen(0.5)) return showNumber(value);
    return isChosen(0.5) ? name : name.toLowerCase();
  };
  const every: Field = { text: '*', names: () => true };

  function chooseDayOfMonth(): { readonly text: string; readonly isDay: (day: Day) => boolean } {
    const isLast = ({ day, daysInMonth }: Day) => day === daysInMonth;
    if (isChosen(0.1)) return { text: 'L', isDay: isLast };
    if (isChosen(0.15)) return { text: '31', isDay: ({ day }) => day === 31 };
    const { text, names } = chooseList(1, 31, showNumber);
    if (isChosen(0.1)) return { text: `${text},L`, isDay: (day) => names(day.day) || isLast(day) };
    return { text, isDay: ({ day }) => names(day) };
  }

  function chooseDayOfWeek(): { readonly text: string; readonly isDay: (day: Day) => boolean } {
    const weekday = between(0, 7);
    const show = showName(WEEKDAYS, 0);
    if (isChosen(0.15)) {
      const nth = between(1, 5);
      const isDay = (day: Day) => day.weekday === weekday % 7 && Math.ceil(day.day / 7) === nth;
      return { text: `${show(weekday)}#${nth}`, isDay };
    }
    if (isChosen(0.15)) {
      const isDay = (day: Day) => day.weekday === weekday % 7 && day.day + 7 > day.daysInMonth;
      return { text: `${weekday}L`, isDay };
    }
    const { text, names } = chooseList(0, 7, show);
    return { text, isDay: (day) => names(day.weekday) || (day.weekday === 0 && names(7)) };
  }

  const isStar = (text: string): boolean => text.startsWith('*') || text.startsWith('?');

  function chooseDays(): { readonly text: string; readonly isDay: (day: Day) => boolean } {
    const always = { text: choose(['*', '*', '*', '?']), isDay: () => true };
    const kind = choose(['all', 'all', 'month', 'week', 'week', 'both']);
    const ofMonth = kind === 'month' || kind === 'both' ? chooseDayOfMonth() : always;
    const ofWeek = kind === 'week' || kind === 'both' ? chooseDayOfWeek() : always;
    const month = isChosen(0.75) ? every : chooseList(1, 12, showName(MONTHS, 1));
    const areBoth = isStar(ofMonth.text) || isStar(ofWeek.text);
    return {
      text: `${ofMonth.text} ${month.text} ${ofWeek.text}`,
      isDay: (day) =>
        month.names(day.month) &&
        (areBoth ? ofMonth.isDay(day) && ofWeek.isDay(day) : ofMonth.isDay(day) || ofWeek.isDay(day)),
    };
  }

  /** Clocks change between 22:00 and 04:00. */
  const chooseHour = (): number => (isChosen(0.7) ? choose([22, 23, 0, 1, 2, 3, 4]) : between(0, 23));

  function chooseCron(): Pick<RandomSchedule, 'config' | 'times'> {
    const minute = isChosen(0.6) ? { value: between(0, 59) } : undefined;
    const minutes: Field = minute
      ? { text: showNumber(minute.value), names: (value) => value === minute.value }
      : isChosen(0.1)
        ? every
        : chooseList(0, 59, showNumber);
    const hour = chooseHour();
    const hours: Field = isChosen(0.5)
      ? { text: showNumber(hour), names: (value) => value === hour }
      : isChosen(0.3)
        ? every
        : chooseList(0, 23, showNumber);
    const days = isChosen(0.03)
      ? { text: '29 2 *', isDay: ({ day, month }: Day) => day === 29 && month === 2 }
      : chooseDays();
    const gap = () => choose([' ', ' ', ' ', '  ', '\t']);
    const cronExpression = [minutes.text, hours.text, ...days.text.split(' ')].reduce(
      (text, field) => `${text}${gap()}${field}`,
    );
    return {
      config: { scheduleType: 'custom', cronExpression },
      times: {
        kind: 'cron',
        minutes: range(0, 59).filter(minutes.names),
        hours: range(0, 23).filter(hours.names),
        isDay: days.isDay,
      },
    };
  }

  function chooseSimple(): Pick<RandomSchedule, 'config' | 'times'> {
    const [minute, hour] = [between(0, 59), chooseHour()];
    const scheduleType = choose(['hourly', 'daily', 'weekly', 'monthly', 'once'] as const);
    const cron = { kind: 'cron', minutes: [minute], hours: [hour], isDay: () => true } as const;
    if (scheduleType === 'daily') return { config: { scheduleType, hour, minute }, times: cron };
    if (scheduleType === 'weekly') {
      const daysOfWeek = range(1, between(1, 4)).map(() => between(0, 6));
      return {
        config: { scheduleType, daysOfWeek, hour, minute },
        times: { ...cron, isDay: ({ weekday }) => daysOfWeek.includes(weekday) },
      };
    }
    if (scheduleType === 'monthly') {
      const dayOfMonth = between(1, 31);
      return {
        config: { scheduleType, dayOfMonth, hour, minute },
        times: { ...cron, isDay: ({ day }) => day === dayOfMonth },
      };
    }
    if (scheduleType === 'once') {
      const at = now + between(1, 365 * 24 * 60) * 60_000;
      return {
        config: { scheduleType, scheduledTime: new Date(at).toISOString() },
        times: { kind: 'once', at },
      };
    }
    const interval = between(1, 24);
    const config = { scheduleType, minute, interval };
    if (24 % interval !== 0)
      return { config, times: { kind: 'interval', minute, everyHours: interval, anchorAt: now } };
    return { config, times: { ...cron, hours: range(0, 23).filter((value) => value % interval === 0) } };
  }

  const timezone = isChosen(0.5) ? choose(LIVELY_ZONES) : zone;
  const { config, times } = isChosen(0.6) ? chooseCron() : chooseSimple();
  const jitterMs = choose([0, 0, 0, 60_000, DAY_MS]);
  return { config: { ...config, timezone, jitterMs }, timezone, jitterMs, times };
}
