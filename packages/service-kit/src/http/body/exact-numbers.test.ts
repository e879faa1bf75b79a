import { findInexactNumber } from './exact-numbers.js';

// prettier-ignore
it.each([
  '0', '-0', '1', '-12.50', '0.1', '1e20', '1E+2', '123456789012345', '9007199254740991', '9007199254740992',
  '0.30000000000000004', '1e-7', '5e-324', '1.7976931348623157e308', '100000000000000000000', '1.0000000000000000000',
])('accepts %s', (number) => {
  expect(findInexactNumber(`{"n":[${number}]}`)).toBeUndefined();
});

// prettier-ignore
it.each([
  '1e400', '-1e400', '12345678901234567890', '9007199254740993', '1e-400', '0.1000000000000000055511151231257827',
  '3.14159265358979323846',
])('rejects %s, which JavaScript would change', (number) => {
  expect(findInexactNumber(`{"n":[1,${number}]}`)).toEqual({
    field: 'body',
    message: expect.stringContaining(number) as unknown,
  });
});

it('ignores numbers inside of strings', () => {
  expect(
    findInexactNumber(String.raw`{"1e400":"1e400","a\"1e400":"\\","b":"12345678901234567890\\\""}`),
  ).toBeUndefined();
  expect(findInexactNumber(String.raw`{"a":"\\",  "b":1e400}`)).toBeDefined();
  expect(findInexactNumber('"1e400')).toBeUndefined();
});

it('reads a large body', () => {
  const json = JSON.stringify({ text: '"1e400\\'.repeat(200_000), numbers: Array(50_000).fill(1.5) });
  expect(findInexactNumber(json)).toBeUndefined();
});

it('takes linear time for zeros inside of a number', () => {
  const json = `{"n":1${'0'.repeat(50_000)}1}`;
  // Processor time does not depend on other work on the machine. It is less than 1 ms; quadratic time would be a second.
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    expect(findInexactNumber(json)).toBeDefined();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(Math.min(...times)).toBeLessThan(200);
});
