import { formatLocalTime, hasClockChanged } from './local-time.ts';

test('a run is shown as a clock of its zone shows it', () => {
  expect(formatLocalTime('2026-11-23T02:30:00+01:00')).toBe('Mon, Nov 23, 2026, 02:30');
  expect(formatLocalTime('2026-11-23T23:30:00Z')).toBe('Mon, Nov 23, 2026, 23:30');
});

test.each([
  [undefined, '2026-03-29T02:30:00+01:00', false],
  ['2026-03-28T02:30:00+01:00', '2026-03-29T03:30:00+02:00', true],
  ['2026-03-29T03:30:00+02:00', '2026-03-30T02:30:00+02:00', false],
])('between %s and %s the clocks have changed: %s', (before, after, expected) => {
  expect(hasClockChanged(before, after)).toBe(expected);
});
