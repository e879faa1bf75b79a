import { createReplayCheck } from './replay-check.js';

let now = 0;
const clock = () => now;
const tooMany = expect.objectContaining({ statusCode: 429, headers: { 'retry-after': expect.any(String) } });

/** Uses new keys until one is refused. @returns how many were accepted. */
function fill(isFirst: (holder: string, key: string) => boolean, holder: string): number {
  for (let count = 0; ; count += 1)
    try {
      isFirst(holder, `${holder} ${count}`);
    } catch {
      return count;
    }
}

test('a key is first once within the retention', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock });
  expect([isFirst('a', '1'), isFirst('a', '1'), isFirst('a', '2')]).toEqual([true, false, true]);
  now += 999;
  expect(isFirst('a', '1')).toBe(false);
  now += 1;
  expect(isFirst('a', '1')).toBe(true);
});

test('a holder that has as many keys as there is room left is refused alone', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock, max: 100 });
  expect(fill(isFirst, 'flood')).toBe(50);
  expect(isFirst('other', '1')).toBe(true);
  expect(() => isFirst('flood', 'more')).toThrow(tooMany);
  // Of a key that is remembered, nothing is forgotten meanwhile.
  expect(isFirst('flood', 'flood 0')).toBe(false);
  now += 1_000;
  expect(isFirst('flood', 'more')).toBe(true);
});

test('there is room for another holder beside several that flood', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock, max: 1_000 });
  for (let flood = 0; flood < 5; flood += 1) fill(isFirst, `flood ${flood}`);
  expect(fill(isFirst, 'other')).toBeGreaterThan(10);
});

test('a holder gets its room back as its keys expire', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock, max: 8 });
  isFirst('a', '1');
  now += 500;
  expect(fill(isFirst, 'a')).toBe(3);
  now += 500;
  expect(isFirst('a', '2')).toBe(true);
  expect(() => isFirst('a', '3')).toThrow(tooMany);
  now += 1_000;
  expect(fill(isFirst, 'b')).toBe(4);
});
