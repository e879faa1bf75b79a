import { type CronExpression, type CronExpressionOptions, CronExpressionParser } from 'cron-parser';

/* The syntax of the fields. The library accepts more, such as `1-5-9` for `1-5`. */
const listOf = (value: string, other = ''): string => {
  const item = `(([*?]|${value}(-${value})?)(/0*[1-9][0-9]*)?${other})`;
  return `${item}(,${item})*`;
};
const dayOfWeek = '(0?[0-7]|[A-Za-z]{3})';
const fields = [
  listOf('[0-5]?[0-9]'),
  listOf('([01]?[0-9]|2[0-3])'),
  listOf('(0?[1-9]|[12][0-9]|3[01])', '|L'),
  listOf('(0?[1-9]|1[0-2]|[A-Za-z]{3})'),
  `(${listOf(dayOfWeek, `|${dayOfWeek}L`)}|${dayOfWeek}#[1-5])`,
];
export const CRON_PATTERN = `^${fields.join(String.raw`\s+`)}$`;
const syntax = new RegExp(CRON_PATTERN);

/** Returns whether the fields are lists of values, ranges and steps; whether the library can parse them is another question. */
export const isCronSyntax = (expression: string): boolean => syntax.test(expression);

/** Whether a field starts with `*`: all values, or a step of them. */
const isStar = (field: string): boolean => /^[*?]/.test(field);
const isWhole = (field: string): boolean => field === '*' || field === '?';

/**
 * Splits an expression whose day of the month and day of the week have to match both. Cron lets either match only if neither
 * of the fields starts with `*`, while the library lets either match unless one of them is `*` itself.
 *
 * @returns one expression for the times and the days of one field, and one for the days of the other; undefined when the
 * library's rule is cron's.
 */
export function splitDays(cron: string): { readonly times: string; readonly days: string } | undefined {
  const [minute = '', hour = '', dayOfMonth = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  if (isWhole(dayOfMonth) || isWhole(weekday) || !(isStar(dayOfMonth) || isStar(weekday))) return undefined;
  // A step of days has many, so the times are those of the other field.
  return isStar(dayOfMonth)
    ? { times: `${minute} ${hour} * ${month} ${weekday}`, days: `* * ${dayOfMonth} * *` }
    : { times: `${minute} ${hour} ${dayOfMonth} ${month} *`, days: `* * * * ${weekday}` };
}

const fieldNames = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;

/** Sunday is both 0 and 7. */
const toDayOfWeek = (value: number | string): number | string => (value === 7 ? 0 : value);

/** Removes repeated values from the list of a field. */
function toDistinctValues(list: string, position: number): string {
  const name = fieldNames[position];
  if (name === undefined || !list.includes(',') || list.includes('#')) return list;
  const values = [...new Set(list.split(','))].flatMap((item): readonly (number | string)[] => {
    const alone = fieldNames.map((_name, other) => (other === position ? item : '*')).join(' ');
    return CronExpressionParser.parse(alone).fields[name].values;
  });
  return [...new Set(name === 'dayOfWeek' ? values.map(toDayOfWeek) : values)].join(',');
}

/**
 * Parses a cron expression. The library rejects a list in which a value is repeated, such as `7,7`, `0,7` or `1-3,2`,
 * although it means the same as the list without the repetition.
 *
 * @throws Error for an invalid expression.
 */
export function parseCron(expression: string, options?: CronExpressionOptions): CronExpression {
  try {
    return CronExpressionParser.parse(expression, options);
  } catch (error) {
    const distinct = expression.trim().split(/\s+/).map(toDistinctValues).join(' ');
    if (distinct === expression) throw error;
    return CronExpressionParser.parse(distinct, options);
  }
}
