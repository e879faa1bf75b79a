/*
 * The dialect of cron. An expression has five fields, which are lists of values, ranges and steps. `?` is `*`, a step from
 * a value (`5/10`) goes on to the last one, and 7 is Sunday, as is 0. Months and weekdays have names. A list of days may
 * have `L`, the last day of the month, or `5L`, the last Friday; `MON#2` is the second Monday.
 */

interface FieldRange {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** The names of the values, from the first one on. */
  readonly names?: readonly string[];
}

// oxfmt-ignore
const ranges = {
  minute: { name: 'minute', first: 0, last: 59 },
  hour: { name: 'hour', first: 0, last: 23 },
  dayOfMonth: { name: 'day of the month', first: 1, last: 31 },
  month: {
    name: 'month', first: 1, last: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  dayOfWeek: { name: 'day of the week', first: 0, last: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
} as const satisfies Record<string, FieldRange>;

/* The syntax of the fields. */
const listOf = (value: string, other = ''): string => {
  const item = `(([*?]|${value}(-${value})?)(/0*[1-9][0-9]*)?${other})`;
  return `${item}(,${item})*`;
};
const dayOfWeek = '(0?[0-7]|[A-Za-z]{3})';
const fields: readonly (readonly [range: FieldRange, syntax: string])[] = [
  [ranges.minute, listOf('[0-5]?[0-9]')],
  [ranges.hour, listOf('([01]?[0-9]|2[0-3])')],
  [ranges.dayOfMonth, listOf('(0?[1-9]|[12][0-9]|3[01])', '|L')],
  [ranges.month, listOf('(0?[1-9]|1[0-2]|[A-Za-z]{3})')],
  [ranges.dayOfWeek, `(${listOf(dayOfWeek, `|${dayOfWeek}L`)}|${dayOfWeek}#[1-5])`],
];
export const CRON_PATTERN = `^${fields.map(([, syntax]) => syntax).join(String.raw`\s+`)}$`;
const checks = fields.map(([range, syntax]) => ({ range, syntax: new RegExp(`^${syntax}$`) }));

/** The times that an expression names. */
export interface CronTimes {
  /** Ascending. */
  readonly minutes: readonly number[];
  /** Ascending. */
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  /** Returns whether it names a day of one of its months. */
  readonly isDay: (day: CalendarDay) => boolean;
}

export interface CalendarDay {
  readonly dayOfMonth: number;
  /** 0 is Sunday. */
  readonly dayOfWeek: number;
  readonly daysInMonth: number;
}

/** @throws Error for a name that is none. */
function parseValue(text: string, { name, first, names }: FieldRange): number {
  if (/^\d/.test(text)) return Number(text);
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  if (index < 0) throw new Error(`the ${name} has no ${text}`);
  return first + index;
}

/** @throws Error for a name that is none, and for a range that does not ascend. */
function addValues(values: Set<number>, item: string, range: FieldRange): void {
  const [base = '', step] = item.split('/');
  const [from = '', to] = base.split('-');
  const isAll = from === '*' || from === '?';
  const first = isAll ? range.first : parseValue(from, range);
  const alone = isAll || step !== undefined ? range.last : first;
  const last = to === undefined ? alone : parseValue(to, range);
  if (last < first) throw new Error(`the ${range.name} has a range that does not ascend: ${base}`);
  for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
}

/** @throws Error. */
function parseValues(items: readonly string[], range: FieldRange): ReadonlySet<number> {
  const values = new Set<number>();
  for (const item of items) addValues(values, item, range);
  return values;
}

const toAscending = (values: ReadonlySet<number>): number[] =>
  [...values].toSorted((one, other) => one - other);

/** @throws Error. */
function parseDaysOfMonth(field: string): CronTimes['isDay'] {
  const items = field.split(',');
  const values = parseValues(
    items.filter((item) => item !== 'L'),
    ranges.dayOfMonth,
  );
  const hasLast = items.includes('L');
  return ({ dayOfMonth, daysInMonth }) => values.has(dayOfMonth) || (hasLast && dayOfMonth === daysInMonth);
}

const DAYS_A_WEEK = 7;

/** @throws Error. */
function parseDaysOfWeek(field: string): CronTimes['isDay'] {
  const [weekday = '', nth] = field.split('#');
  if (nth !== undefined) {
    const value = parseValue(weekday, ranges.dayOfWeek) % DAYS_A_WEEK;
    return (day) => day.dayOfWeek === value && Math.ceil(day.dayOfMonth / DAYS_A_WEEK) === Number(nth);
  }
  const items = field.split(',');
  const isLast = (item: string): boolean => item.endsWith('L');
  const values = parseValues(
    items.filter((item) => !isLast(item)),
    ranges.dayOfWeek,
  );
  const lastOnes = parseValues(
    items.filter(isLast).map((item) => item.slice(0, -1)),
    ranges.dayOfWeek,
  );
  const has = (days: ReadonlySet<number>, day: number): boolean =>
    days.has(day) || (day === 0 && days.has(DAYS_A_WEEK));
  return ({ dayOfMonth, dayOfWeek: day, daysInMonth }) =>
    has(values, day) || (has(lastOnes, day) && dayOfMonth + DAYS_A_WEEK > daysInMonth);
}

/** Whether a field starts with `*`: all values, or a step of them. */
const isStar = (field: string): boolean => /^[*?]/.test(field);

/**
 * Parses an expression.
 *
 * @throws Error that says why it is none, after "is not a cron expression: ".
 */
export function parseCron(expression: string): CronTimes {
  const given = expression.trim().split(/\s+/);
  for (const [index, { range, syntax }] of checks.entries())
    if (!syntax.test(given[index] ?? ''))
      throw new Error(
        `the ${range.name} is a list of values, ranges and steps from ${range.first} to ${range.last}`,
      );
  const [minute = '', hour = '', ofMonth = '', month = '', ofWeek = ''] = given;
  const isDayOfMonth = parseDaysOfMonth(ofMonth);
  const isDayOfWeek = parseDaysOfWeek(ofWeek);
  return {
    minutes: toAscending(parseValues(minute.split(','), ranges.minute)),
    hours: toAscending(parseValues(hour.split(','), ranges.hour)),
    months: parseValues(month.split(','), ranges.month),
    // Either counts only if neither field starts with `*`, as in cron.
    isDay:
      isStar(ofMonth) || isStar(ofWeek)
        ? (day) => isDayOfMonth(day) && isDayOfWeek(day)
        : (day) => isDayOfMonth(day) || isDayOfWeek(day),
  };
}
