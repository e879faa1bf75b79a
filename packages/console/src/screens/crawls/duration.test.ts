import { describeDuration } from './duration.ts';

test.each([
  [11, '11 ms'],
  [1_500, '1.5 s'],
  [9_960, '10 s'],
  [59_400, '59 s'],
  [300_000, '5 min'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
])('a duration of %d ms is %s', (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});
