import { type CronExpression, type CronExpressionOptions, CronExpressionParser } from 'cron-parser';

const fieldNames = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;

/** Sunday is 0 and 7. */
const toDayOfWeek = (value: number | string): number | string => (value === 7 ? 0 : value);

/** @returns the list of a field with each of its values once. */
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
 * Reads a cron expression. The parser refuses a list in which a value comes twice, such as `7,7`, `0,7` or `1-3,2`: that
 * means the same as the list without it.
 *
 * @throws Error for what is no cron expression.
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
