import { createSeenIds } from './seen-ids.js';

// oxfmt-ignore
test('an id is accepted once while it is valid', () => {
  let now = 1_000_000;
  const seenIds = createSeenIds(() => now);
  expect([seenIds.add('a', 1_060), seenIds.add('a', 1_060), seenIds.add('b', 1_061)]).toEqual([true, false, true]);
  now = 1_060_500;
  expect([seenIds.add('a', 1_120), seenIds.add('b', 1_061)]).toEqual([true, false]);
});

test('no id is accepted while more than can be remembered are valid', () => {
  let now = 0;
  const seenIds = createSeenIds(() => now);
  for (let id = 0; id < 100_000; id += 1) seenIds.add(String(id), 60);
  expect(seenIds.add('one more', 60)).toBe(false);
  now = 61_000;
  expect(seenIds.add('one more', 120)).toBe(true);
});
