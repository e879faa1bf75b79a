import { backoffMs } from './backoff.js';

const longest = { random: () => 1 };

test('doubles the pauses up to the longest', () => {
  expect([1, 2, 3, 5, 6, 1_000].map((failures) => backoffMs(failures, longest))).toEqual([
    100, 200, 400, 1_600, 2_000, 2_000,
  ]);
  expect(backoffMs(4, { firstMs: 500, maxMs: 3_000, ...longest })).toBe(3_000);
});

test('makes at most half of a pause random', () => {
  expect(backoffMs(1, { random: () => 0 })).toBe(50);
});
