import { createRandom } from '@platform/testing';
import { findViolation, type RegisterOperation } from './register.js';

const operation = (
  type: 'read' | 'write',
  value: unknown,
  [startedAt, endedAt]: readonly [number, number],
  outcome: RegisterOperation['outcome'] = 'ok',
): RegisterOperation => ({ type, value, startedAt, endedAt, outcome });
const write = (value: unknown, times: readonly [number, number], outcome?: RegisterOperation['outcome']) =>
  operation('write', value, times, outcome);
const read = (value: unknown, times: readonly [number, number]) => operation('read', value, times);

// oxfmt-ignore
test.each<[string, RegisterOperation[]]>([
  ['nothing', []],
  ['a read of what there was at first', [read(0, [0, 1]), write(1, [2, 3]), read(1, [4, 5])]],
  ['a read during a write, of the old value and of the new one', [write(1, [0, 10]), read(0, [1, 2]), read(1, [3, 4])]],
  ['two writes at a time, in either order', [write(1, [0, 10]), write(2, [0, 10]), read(1, [11, 12])]],
  ['a refused write that nobody reads', [write(1, [0, 1]), write(2, [2, 3], 'refused'), read(1, [4, 5])]],
  ['an indeterminate write that was not done', [write(1, [0, 1]), write(2, [2, 3], 'indeterminate'), read(1, [4, 5])]],
  ['an indeterminate write that was done', [write(1, [0, 1]), write(2, [2, 3], 'indeterminate'), read(2, [4, 5])]],
  ['an indeterminate write that was done long after it had ended', [write(2, [0, 1], 'indeterminate'), read(0, [2, 3]), write(1, [4, 5]), read(1, [6, 7]), read(2, [8, 9])]],
  ['a read that ends after it was overtaken', [write(1, [0, 1]), read(0, [0, 20]), write(2, [2, 3]), read(2, [4, 5])]],
])('OPS-44 accepts %s', (_what, operations) => {
  expect(findViolation(operations, 0)).toBeUndefined();
});

// oxfmt-ignore
test.each<[string, RegisterOperation[], RegisterOperation]>([
  ['a confirmed write that is lost', [write(1, [0, 1]), read(0, [2, 3])], read(0, [2, 3])],
  ['a confirmed write that an older one replaces', [write(1, [0, 1]), write(2, [2, 3]), read(1, [4, 5])], read(1, [4, 5])],
  ['a read of an older value than one read before', [write(1, [0, 10]), read(1, [1, 2]), read(0, [3, 4])], read(0, [3, 4])],
  ['two reads that disagree about the order of two writes', [write(1, [0, 10]), write(2, [0, 10]), read(1, [11, 12]), read(2, [13, 14])], read(2, [13, 14])],
  ['a refused write that was done', [write(1, [0, 1]), write(2, [2, 3], 'refused'), read(2, [4, 5])], read(2, [4, 5])],
  ['an indeterminate write that is read before it began', [read(2, [0, 1]), write(2, [2, 3], 'indeterminate')], read(2, [0, 1])],
  ['an indeterminate write that is done twice', [write(2, [0, 1], 'indeterminate'), read(2, [2, 3]), write(3, [4, 5]), read(3, [6, 7]), read(2, [8, 9])], read(2, [8, 9])],
  ['a value that nobody wrote', [write(1, [0, 1]), read(7, [2, 3])], read(7, [2, 3])],
])('OPS-44 rejects %s', (_what, operations, at) => {
  expect(findViolation(operations, 0)).toMatchObject(at);
});

/** Runs operations on a real register, some at the same time, and returns what their callers see. */
function simulate(seed: number, count: number): RegisterOperation[] {
  const random = createRandom(seed);
  const history: RegisterOperation[] = [];
  let value: unknown = 0;
  for (let index = 1; index <= count; index += 1) {
    // Each is done at its index; it began up to three before that, and ends up to three after.
    const times = [index - 3 * random(), index + 3 * random()] as const;
    const chance = random();
    if (chance < 0.4) history.push(read(value, times));
    else if (chance < 0.7) history.push(write((value = index), times));
    else if (chance < 0.8) history.push(write(index, times, 'refused'));
    else {
      if (chance < 0.9) value = index;
      history.push(write(index, times, 'indeterminate'));
    }
  }
  return history;
}

test('OPS-44 accepts what a real register does, and rejects it once a late read is an early one', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const history = simulate(seed, 2_000);
    expect(findViolation(history, 0)).toBeUndefined();
    const early = history.find(({ type, value }) => type === 'read' && value !== 0);
    const stale = { ...read(early?.value, [3_000, 3_001]) };
    const overwritten = write(9_999, [2_900, 2_901]);
    expect(findViolation([...history, overwritten, stale], 0)).toMatchObject(stale);
  }
});
