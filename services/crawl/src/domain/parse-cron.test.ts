import { parseCron } from './parse-cron.js';

const week = [0, 1, 2, 3, 4, 5, 6];
/** Lists what an expression names, with the days of a month of 31 days that begins on a Monday. */
function describeTimes(expression: string) {
  const { minutes, hours, months, isDay } = parseCron(expression);
  const days = Array.from({ length: 31 }, (_, index) => index + 1).filter((dayOfMonth) =>
    isDay({ dayOfMonth, dayOfWeek: dayOfMonth % week.length, daysInMonth: 31 }),
  );
  return { minutes, hours, months: [...months].toSorted((one, other) => one - other), days };
}

it.each([
  ['0 0 * * 7,7', '0 0 * * 0'],
  ['0 0 * * 0,7', '0 0 * * 0'],
  ['0 0 * * MON,1,2', '0 0 * * 1,2'],
  ['0 0 * * 5-7,0', '0 0 * * 5,6,0'],
  ['0 0 * * sat/1', '0 0 * * 6,7'],
  ['0 0 * * thu-7', '0 0 * * 4,5,6,0'],
  ['0 0 ? * friL', '0 0 26 * ?'],
  ['0 0 * * MON#2', '0 0 8 * *'],
  ['0 0 L,05 * *', '0 0 5,31 * *'],
  ['5,5-6 */12,0 1,1-2 jan,1 *', '5,6 0,12 1,2 1 *'],
  [' 5/20 ?/8  1 */100\tMON ', '5,25,45 0,8,16 1 1 MON'],
])('%j names the times of %j', (given, meant) => {
  expect(describeTimes(given)).toEqual(describeTimes(meant));
});

it.each([
  ['61,61 * * * *', 'the minute is a list of values, ranges and steps from 0 to 59'],
  ['0 24 * * *', 'the hour is'],
  ['0 0 0 * *', 'the day of the month is'],
  ['0 0 * 13 *', 'the month is'],
  ['0 0 * * 1#1,1#1', 'the day of the week is'],
  ['0 0 * juni *', 'the month is'],
  ['0 0 * * FOO', 'the day of the week has no FOO'],
  ['0 0 * mon *', 'the month has no mon'],
  ['30-10 * * * *', 'the minute has a range that does not ascend: 30-10'],
  ['0 0 * * FRI-SUN', 'the day of the week has a range that does not ascend: FRI-SUN'],
  ['0 0 * *', 'the day of the week is'],
])('rejects %j', (expression, reason) => {
  expect(() => parseCron(expression)).toThrow(reason);
});
