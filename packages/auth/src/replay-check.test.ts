import { createReplayCheck, type Holder } from './replay-check.js';

let now = 0;
const clock = () => now;
const tooMany = expect.objectContaining({ statusCode: 429, headers: { 'retry-after': expect.any(String) } });

const of = (orgId: string, accountId = orgId): Holder => ({ orgId, accountId });
type Check = ReturnType<typeof createReplayCheck>;

/** Uses new keys until one is refused. @returns how many were accepted. */
function fill({ isFirst }: Check, holder: Holder): number {
  for (let count = 0; ; count += 1)
    try {
      isFirst(holder, `${holder.accountId} ${count}`);
    } catch {
      return count;
    }
}

test('a key is first once within the retention, however long it is', () => {
  const { isFirst } = createReplayCheck({ retentionMs: 1_000, clock });
  const long = 'x'.repeat(10_000);
  expect([isFirst(of('a'), long), isFirst(of('a'), long), isFirst(of('a'), `${long}2`)]).toEqual([
    true,
    false,
    true,
  ]);
  now += 999;
  expect(isFirst(of('a'), long)).toBe(false);
  now += 1;
  expect(isFirst(of('a'), long)).toBe(true);
});

test('an organisation that has as many keys as there is room left is refused alone', () => {
  const check = createReplayCheck({ retentionMs: 1_000, clock, max: 100 });
  const { isFirst } = check;
  for (let account = 0; account < 100; account += 1) fill(check, of('flood', `flood ${account}`));
  expect(isFirst(of('other'), '1')).toBe(true);
  expect(() => isFirst(of('flood', 'another'), 'more')).toThrow(tooMany);
  // Of a key that is remembered, nothing is forgotten meanwhile.
  expect(isFirst(of('flood'), 'flood 0 0')).toBe(false);
  now += 1_000;
  expect(isFirst(of('flood'), 'more')).toBe(true);
});

test('an organisation with a thousand accounts that flood leaves half of the room to others', () => {
  const check = createReplayCheck({ retentionMs: 1_000, clock, max: 10_000 });
  let taken = 0;
  for (let account = 0; account < 1_000; account += 1) taken += fill(check, of('flood', `flood ${account}`));
  expect(taken).toBeLessThanOrEqual(5_000);
  expect(fill(check, of('other'))).toBeGreaterThan(1_000);
});

test('an account that floods leaves room to the others of its organisation', () => {
  const check = createReplayCheck({ retentionMs: 1_000, clock, max: 1_000 });
  expect(fill(check, of('org', 'flood'))).toBe(250);
  expect(fill(check, of('org', 'colleague'))).toBeGreaterThan(100);
});

test('there is room for another organisation beside several that flood', () => {
  const check = createReplayCheck({ retentionMs: 1_000, clock, max: 1_000 });
  for (let flood = 0; flood < 5; flood += 1)
    for (let account = 0; account < 20; account += 1)
      fill(check, of(`flood ${flood}`, `${flood} ${account}`));
  expect(fill(check, of('other'))).toBeGreaterThan(3);
});

test('a holder gets its room back as its keys expire', () => {
  const check = createReplayCheck({ retentionMs: 1_000, clock, max: 8 });
  const { isFirst } = check;
  isFirst(of('a'), '1');
  now += 500;
  expect(fill(check, of('a'))).toBe(1);
  now += 500;
  expect(isFirst(of('a'), '2')).toBe(true);
  expect(() => isFirst(of('a'), '3')).toThrow(tooMany);
  now += 1_000;
  expect(fill(check, of('b'))).toBe(2);
});
