import { toCron } from './cron.js';
import { nextTime, nextTimes } from './recurrence.js';
import type { RecurringConfig } from './schedule-config.js';

const base = { isEnabled: true, timezone: 'UTC', jitterMs: 0, missedRunPolicy: 'run_once' } as const;
const times = (cron: string, timezone: string, after: string, count: number) =>
  nextTimes({ cron, timezone, offsetMs: 0 }, Date.parse(after), count).map((at) =>
    new Date(at).toISOString().slice(0, 16),
  );

describe('toCron', () => {
  const cases: [RecurringConfig, string][] = [
    [{ ...base, scheduleType: 'hourly', minute: 5, interval: 1 }, '5 * * * *'],
    [{ ...base, scheduleType: 'hourly', minute: 5, interval: 6 }, '5 */6 * * *'],
    [{ ...base, scheduleType: 'hourly', minute: 0, interval: 24 }, '0 */24 * * *'],
    [{ ...base, scheduleType: 'daily', hour: 23, minute: 59 }, '59 23 * * *'],
    [{ ...base, scheduleType: 'weekly', daysOfWeek: [6, 0, 3, 0], hour: 1, minute: 2 }, '2 1 * * 0,3,6'],
    [{ ...base, scheduleType: 'monthly', dayOfMonth: 31, hour: 0, minute: 0 }, '0 0 31 * *'],
    [{ ...base, scheduleType: 'custom', cronExpression: '*/10 8-18 * * MON-FRI' }, '*/10 8-18 * * MON-FRI'],
  ];
  it.each(cases)('%o becomes %s', (config, cron) => {
    expect(toCron(config)).toBe(cron);
  });
});

// oxfmt-ignore
it.each([
  ['29 February, in leap years only', '0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['29 February, when it is a Sunday', '0 0 29 2 */7', ['2032-02-29T00:00', '2060-02-29T00:00']],
  ['day 31, in months that have one', '0 0 31 * *', ['2026-07-31T00:00', '2026-08-31T00:00', '2026-10-31T00:00']],
  ['the last day of a month', '0 0 L * *', ['2026-06-30T00:00', '2026-07-31T00:00']],
  ['the last Friday of a month', '0 0 * * 5L', ['2026-07-31T00:00', '2026-08-28T00:00']],
  ['over the end of a year', '59 23 31 12 *', ['2026-12-31T23:59', '2027-12-31T23:59']],
  ['names', '0 9 * JAN,JUL MON', ['2026-07-06T09:00', '2026-07-13T09:00']],
  ['lists and steps', '0,30 */12 * * *', ['2026-06-29T12:00', '2026-06-29T12:30', '2026-06-30T00:00']],
  ['a step of hours, from midnight on', '0 */5 * * *', ['2026-06-29T15:00', '2026-06-29T20:00', '2026-06-30T00:00']],
  ['a day of the month or of the week', '0 0 5 * 1', ['2026-07-05T00:00', '2026-07-06T00:00', '2026-07-13T00:00']],
  ['a range of all days or one of the week', '0 0 1-31 * 1', ['2026-06-30T00:00', '2026-07-01T00:00', '2026-07-02T00:00']],
  ['a list that has a step, or a day of the week', '0 0 1,*/15 * 1', ['2026-07-01T00:00', '2026-07-06T00:00', '2026-07-13T00:00']],
  ['a step of days and a day of the week', '0 0 */2 * 1', ['2026-07-13T00:00', '2026-07-27T00:00', '2026-08-03T00:00']],
  ['every minute of such days', '* * */2 * 2', ['2026-07-07T00:00', '2026-07-07T00:01', '2026-07-07T00:02']],
  ['a day of the month and a step of weekdays', '30 6 13 * */5', ['2026-09-13T06:30', '2026-11-13T06:30', '2026-12-13T06:30']],
  ['steps of both', '0 0 */10 * */3', ['2026-07-01T00:00', '2026-07-11T00:00', '2026-08-01T00:00']],
  ['a step of days and the first Monday', '0 0 */7 * 1#1', ['2027-02-01T00:00', '2027-03-01T00:00', '2027-11-01T00:00']],
  ['a step of days and the last Friday', '0 0 */5 * 5L', ['2026-07-31T00:00', '2027-02-26T00:00', '2027-03-26T00:00']],
  ['the last day of the month on a step of weekdays', '0 0 L * */6', ['2026-10-31T00:00', '2027-01-31T00:00', '2027-02-28T00:00']],
])('understands %s', (_what, cron, expected) => {
  expect(times(cron, 'UTC', '2026-06-29T11:00:00Z', expected.length)).toEqual(expected);
});

/* Times in UTC around a change of the clocks. The library that the service once had for them got these wrong. */
// oxfmt-ignore
it.each([
  [
    'a half hour that comes twice, every hour', '27 * * * *', 'Australia/Lord_Howe', '2027-04-03T14:00:00Z',
    ['2027-04-03T14:27', '2027-04-03T15:57', '2027-04-03T16:57'],
  ],
  [
    'an hour after midnight that comes twice', '7 */4 * * *', 'America/Havana', '2024-11-03T00:30:00Z',
    ['2024-11-03T04:07', '2024-11-03T09:07', '2024-11-03T13:07'],
  ],
  [
    'an hour before midnight that is skipped', '41 */2 * * *', 'America/Scoresbysund', '2027-03-27T02:00:00Z',
    ['2027-03-27T02:41', '2027-03-27T04:41', '2027-03-27T06:41'],
  ],
])('finds the times around %s', (_what, cron, zone, after, expected) => {
  expect(times(cron, zone, after, expected.length)).toEqual(expected);
});

/* For each zone: a daily time that the clocks skip, then a time that comes twice. Times are in UTC. */
const zones: [
  zone: string,
  gap: [cron: string, after: string, expected: string[]],
  fold: [cron: string, after: string, expected: string[]],
][] = [
  [
    'Europe/Berlin',
    ['30 2 * * *', '2026-03-28T00:00:00Z', ['2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30']],
    ['30 2 * * *', '2026-10-24T00:00:00Z', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
  ],
  [
    'America/Santiago',
    ['30 0 * * *', '2026-09-05T00:00:00Z', ['2026-09-05T04:30', '2026-09-06T04:30', '2026-09-07T03:30']],
    ['30 23 * * *', '2026-04-04T00:00:00Z', ['2026-04-04T02:30', '2026-04-05T02:30', '2026-04-06T03:30']],
  ],
  [
    'Asia/Beirut',
    ['30 0 * * *', '2026-03-28T00:00:00Z', ['2026-03-28T22:30', '2026-03-29T21:30', '2026-03-30T21:30']],
    ['30 23 * * *', '2026-10-23T00:00:00Z', ['2026-10-23T20:30', '2026-10-24T20:30', '2026-10-25T21:30']],
  ],
];

describe.each(zones)('daylight saving in %s', (zone, gap, fold) => {
  it('a time that the clocks skip runs once, after the gap', () => {
    expect(times(gap[0], zone, gap[1], 3)).toEqual(gap[2]);
  });
  it('a time that occurs twice runs once', () => {
    expect(times(fold[0], zone, fold[1], 3)).toEqual(fold[2]);
  });
  it('an hourly time runs in every hour that passes', () => {
    for (const [, after] of [gap, fold]) {
      const list = nextTimes({ cron: '0 * * * *', timezone: zone, offsetMs: 0 }, Date.parse(after), 60);
      expect(list.slice(1).map((at, index) => at - (list[index] ?? 0))).toEqual(Array(59).fill(3_600_000));
    }
  });
});

describe('jitter', () => {
  it('delays every time equally', () => {
    const moved = { cron: '0 * * * *', timezone: 'Europe/Berlin', offsetMs: 90_000 };
    const at = nextTime(moved, Date.parse('2026-06-30T14:00:30Z'));
    expect(at).toBe(Date.parse('2026-06-30T14:01:30Z'));
    expect(nextTime(moved, at ?? 0)).toBe(Date.parse('2026-06-30T15:01:30Z'));
  });
});

describe('the next time', () => {
  it('does not depend on earlier calls', () => {
    const recurrence = { cron: '*/20 9-10 * * *', timezone: 'Europe/Berlin', offsetMs: 0 };
    const at = (time: string) => Date.parse(`2026-06-30T${time}Z`);
    const ask = (after: string, offsetMs = 0) => nextTime({ ...recurrence, offsetMs }, at(after));
    expect(ask('07:00:30')).toBe(at('07:20:00'));
    // In turn: just before the known time; at it; after it; before the first question.
    expect(ask('07:19:59.999')).toBe(at('07:20:00'));
    expect(ask('07:20:00')).toBe(at('07:40:00'));
    expect(ask('08:30:00')).toBe(at('08:40:00'));
    expect(ask('06:59:59')).toBe(at('07:00:00'));
    expect(ask('07:00:30', 60_000)).toBe(at('07:01:00'));
    // Another time zone.
    expect(nextTime({ ...recurrence, timezone: 'UTC' }, at('06:59:45'))).toBe(at('09:00:00'));
  });
});
