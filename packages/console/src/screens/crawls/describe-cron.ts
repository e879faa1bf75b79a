import cronstrue from 'cronstrue';

/** Lists what a step selects that does not divide the hour or the day: every seven hours start over at midnight. */
function listUneven(field: string, count: number): string {
  const step = Number(/^\*\/(\d+)$/.exec(field)?.[1] ?? 1);
  if (step < 1 || count % step === 0) return field;
  return Array.from({ length: Math.ceil(count / step) }, (_value, index) => index * step).join(',');
}

/** @returns the meaning of a cron expression in words, or undefined when it has none. */
export function describeCron(expression: string): string | undefined {
  try {
    const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = expression
      .trim()
      .split(/\s+/);
    const fields = [listUneven(minute, 60), listUneven(hour, 24), dayOfMonth, month, dayOfWeek];
    return cronstrue.toString(fields.join(' '), {
      use24HourTimeFormat: true,
      // Either day may match, unless one of them starts with a star.
      logicalAndDayFields: dayOfMonth.startsWith('*') || dayOfWeek.startsWith('*'),
    });
  } catch {
    return undefined;
  }
}
