import { createReplayCheck } from './replay-check.js';

let now = 0;
const clock = () => now;

test('a key is first once within the retention', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock });
  expect([isFirst('a'), isFirst('a'), isFirst('b')]).toEqual([true, false, true]);
  now += 999;
  expect(isFirst('a')).toBe(false);
  now += 1;
  expect(isFirst('a')).toBe(true);
});

test('no key is forgotten to make room: more than fit are refused until some have expired', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock, max: 2 });
  expect([isFirst('a'), isFirst('b')]).toEqual([true, true]);
  expect(() => isFirst('c')).toThrow(expect.objectContaining({ statusCode: 503 }));
  expect(isFirst('a')).toBe(false);
  now += 1_000;
  expect(isFirst('c')).toBe(true);
});
