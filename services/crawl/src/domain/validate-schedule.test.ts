import { readScheduleBody } from './validate-schedule.js';

const now = Date.parse('2026-11-21T00:00:00Z');
const daily = { scheduleType: 'daily', hour: 2, minute: 15 };
const read = (scheduleConfig: unknown, options: object = {}) =>
  readScheduleBody({ scheduleConfig, ...options }, now);
const cron = (cronExpression: unknown) => read({ scheduleType: 'custom', cronExpression });
const toFault = (result: ReturnType<typeof readScheduleBody>) =>
  'faults' in result
    ? result.faults.map(({ field, message }) => `${field} ${message}`).join('; ')
    : 'accepted';

it('fills in the defaults without changing the given object', () => {
  const given = { scheduleConfig: { scheduleType: 'hourly', minute: 7 } };
  // oxfmt-ignore
  expect(readScheduleBody(given, now)).toEqual({
    body: {
      scheduleConfig: {
        scheduleType: 'hourly', minute: 7, interval: 1, isEnabled: true, timezone: 'UTC', jitterMs: 0,
        missedRunPolicy: 'run_once',
      },
      priority: 5,
      maxRetries: 3,
      timeout: 300_000,
      worker: 'event',
    },
  });
  expect(given).toEqual({ scheduleConfig: { scheduleType: 'hourly', minute: 7 } });
});

// oxfmt-ignore
it.each([
  '0 0 * * MON-FRI', '0 0 1 JAN *', '0 0 L * *', '0 0 * * 5L', '0 0 29 2 *', '*/15 0-6,20 1-7 * 1', '0\t0  *  * *',
  '0 0 * * 7,7', '0 0 * * SUN,0,7', '0 0 1-5,3,L,L * *', `${'1,'.repeat(490)}1 * * * *`,
  `${Array.from({ length: 60 }, (_v, minute) => minute).join(',')} * * * *`,
])('accepts the cron expression %s', (expression) => {
  expect(toFault(cron(expression))).toBe('accepted');
});

it.each([
  ['61 2 * * *', 'is not a cron expression'],
  ['0 0 2 * * *', 'must match pattern'],
  ['@daily', 'must match pattern'],
  ['0 0 30 2 *', 'never fires'],
  ['0 0 31 4,6,9,11 *', 'never fires'],
  ['H H * * *', 'must not use H'],
  ['0 2 * * 1-H(0-5)/2', 'must not use H'],
  ['0 2 * * +H(0-5)/2', 'must not use H'],
  ['*/0 * * * *', 'is not a cron expression'],
  ['a b c d e', 'is not a cron expression'],
  ['1-5-9 * * * *', 'is a list of values, ranges and steps'],
  ['1* * * * *', 'is a list of values, ranges and steps'],
  ['0 0 5L * *', 'is a list of values, ranges and steps'],
  ['1,1,61 * * * *', 'is not a cron expression'],
  ['0 0 31,31 4 *', 'never fires'],
  [`${'1,'.repeat(600)}1 * * * *`, 'must NOT have more than 1000 characters'],
  [5, 'must be string'],
])('rejects the cron expression %s', (expression, reason) => {
  expect(toFault(cron(expression))).toContain(reason);
});

// Names that ICU takes for other zones than people mean, or that the tz database has dropped.
const foreign = ['BST', 'AST', 'SST', 'ECT', 'PST', 'IST', 'ACT', 'NET', 'CST', 'JST', 'VST', 'SystemV/EST5', 'US/Pacific-New', 'Etc/Unknown']; // oxfmt-ignore
it.each(['Mars/Olympus', '+02:00', '', 'Europe/Berlin; drop', 'Factory', ...foreign])(
  'rejects the zone %j',
  (timezone) => {
    expect(toFault(read({ ...daily, timezone }))).toContain('scheduleConfig.timezone');
  },
);

it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'Asia/Kathmandu'])(
  'accepts the zone %s',
  (timezone) => {
    expect(toFault(read({ ...daily, timezone }))).toBe('accepted');
  },
);

it.each([
  'tomorrow',
  '2027-01-01',
  '2027-01-01T00:00:00',
  '2027-02-30T00:00:00Z',
  '2016-12-31T23:59:60Z',
  1_900_000_000_000,
])('rejects %j as an instant', (scheduledTime) => {
  expect(toFault(read({ scheduleType: 'once', scheduledTime }))).toContain('scheduledTime');
});

it('accepts an instant with any offset', () => {
  expect(toFault(read({ scheduleType: 'once', scheduledTime: '2027-01-01T00:00:00+05:45' }))).toBe(
    'accepted',
  );
});

it('reports all faults at once, in terms of the type', () => {
  const text = toFault(read({ scheduleType: 'daily', hour: 24, interval: 2 }, { priority: 11, foo: 1 }));
  for (const part of [
    'minute is required',
    'hour must be <= 23',
    'interval is not a known field',
    'priority',
    'foo',
  ])
    expect(text).toContain(part);
});

it('rejects metadata that is no object or is nested too deeply', () => {
  let deep: object = {};
  for (let level = 0; level < 5_000; level += 1) deep = { deep };
  expect(toFault(read(daily, { metadata: deep }))).toContain('metadata must not nest deeper');
  expect(toFault(read(daily, { metadata: [] }))).toContain('metadata must be object');
  expect(toFault(read(daily, { metadata: { a: [{ b: null }], ä: '☃' } }))).toBe('accepted');
});

it.each([undefined, null, 'text', [], 5])('rejects %j as a body', (body) => {
  expect(toFault(readScheduleBody(body, now))).toContain('body must be a JSON object');
});

it.each([
  undefined,
  null,
  'daily',
  [],
  { scheduleType: '__proto__' },
  { scheduleType: 'constructor' },
  { scheduleType: 'yearly' },
])('rejects %j as a configuration', (config) => {
  expect(toFault(read(config))).toMatch(/scheduleConfig/);
});
