import { DAY_MS, HOUR_MS } from '@platform/service-kit';
import { findNextAttempt, findResumption } from './schedule.js';

test('a fact that is refused is tried nine times in a day, and twelve times in all', () => {
  const times = [0];
  for (let count = 1; ; count += 1) {
    const next = findNextAttempt(count, times.at(-1) ?? 0);
    if (!next) break;
    times.push(next.getTime());
  }
  expect(times).toHaveLength(12);
  expect(times.filter((at) => at <= DAY_MS)).toHaveLength(9);
  expect(times.at(-1)).toBeGreaterThan(3 * DAY_MS);
});

test('the attempts at a destination that accepts nothing back off to every quarter of an hour', () => {
  expect(findResumption(1, 0).getTime()).toBeLessThanOrEqual(5_000);
  for (const failures of [20, 2_000])
    expect(findResumption(failures, 0).getTime()).toBeLessThanOrEqual(HOUR_MS / 4);
});
