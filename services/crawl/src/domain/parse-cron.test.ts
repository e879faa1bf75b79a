import { parseCron } from './parse-cron.js';

it.each([
  ['0 0 * * 7,7', '0 0 * * 0'],
  ['0 0 * * 0,7', '0 0 * * 0'],
  ['0 0 * * MON,1,2', '0 0 * * 1,2'],
  ['0 0 * * 5-7,0', '0 0 * * 5,6,0'],
  ['5,5-6 */12,0 1,1-2 jan,1 *', '5,6 0,12 1,2 1 *'],
])('%s has the times of %s', (given, meant) => {
  const listTimes = (expression: string) =>
    parseCron(expression, { tz: 'UTC', currentDate: new Date('2026-11-22T00:00:00Z') })
      .take(20)
      .map((date) => date.getTime());
  expect(listTimes(given)).toEqual(listTimes(meant));
});

it('rejects an expression that is invalid without its repeated values, too', () => {
  expect(() => parseCron('61,61 * * * *')).toThrow('61');
  expect(() => parseCron('0 0 * * 1#1,1#1')).toThrow('incompatible');
});
