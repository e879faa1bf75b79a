import { formatExactTime, formatLocalTime, hasClockChanged } from './dates.ts';

test('a run is shown as a clock of its zone shows it', () => {
  expect(formatLocalTime('2026-11-23T02:30:00+01:00')).toMatch(/23.*2026.*02:30/);
  expect(formatLocalTime('2026-11-23T23:30:00Z')).toMatch(/23.*2026.*23:30/);
});

test.each([
  [undefined, '2026-03-29T02:30:00+01:00', false],
  ['2026-03-28T02:30:00+01:00', '2026-03-29T03:30:00+02:00', true],
  ['2026-03-29T03:30:00+02:00', '2026-03-30T02:30:00+02:00', false],
])('between %s and %s the clocks have changed: %s', (before, after, expected) => {
  expect(hasClockChanged(before, after)).toBe(expected);
});

test('UI-18 an exact time names its zone, and counts its hours to 24', () => {
  const words = formatExactTime(new Date('2026-11-29T17:04:05Z'));
  expect(words).toMatch(/\d\d:04:05/);
  expect(words).not.toMatch(/[AP]M/);
  expect(words).toMatch(/(?:UTC|GMT|[A-Z]{3,4}|[+-]\d)/);
});
