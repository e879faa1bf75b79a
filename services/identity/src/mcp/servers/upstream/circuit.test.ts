import { createCircuits } from './circuit.js';

test('opens after five failures in a row, sends one trial, and pauses longer after a failed one', () => {
  let now = 1_000;
  const circuits = createCircuits(() => now);
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) circuits.fail('a');
  };
  fail(4);
  expect(circuits.tryEnter('a')).toBeUndefined();
  circuits.succeed('a');
  fail(4);
  expect(circuits.tryEnter('a')).toBeUndefined();
  fail(1);
  expect(circuits.tryEnter('a')).toBe(5_000);
  expect(circuits.tryEnter('b')).toBeUndefined();
  now += 5_000;
  expect(circuits.tryEnter('a')).toBeUndefined();
  expect(circuits.tryEnter('a')).toBe(5_000);
  fail(1);
  expect(circuits.tryEnter('a')).toBe(10_000);
  now += 10_000;
  expect(circuits.tryEnter('a')).toBeUndefined();
  circuits.leave('a');
  expect(circuits.tryEnter('a')).toBeUndefined();
  circuits.succeed('a');
  expect([circuits.tryEnter('a'), circuits.tryEnter('a')]).toEqual([undefined, undefined]);
});
