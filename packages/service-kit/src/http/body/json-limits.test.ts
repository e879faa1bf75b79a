import { findExcess } from './json-limits.js';

const toFault = (text: string): string | undefined => findExcess(Buffer.from(text))?.message;

test.each([
  '{}',
  '[]',
  '1',
  'null',
  '"a:b"',
  '{"a": "b: \\"c\\": \\\\"}',
  '{"a\\":": {"b": [{"c": 1}, {"c": 2}]}, "c": null}',
  '{"a": "\\\\", "b": ":"}',
  '{"\\u0061": 1, "b": ""}',
  '{"é:": "ü{[,"}',
])('accepts %s', (text) => {
  expect(toFault(text)).toBeUndefined();
});

test('finds the end of any string, however long it is', () => {
  const many = '1,'.repeat(10_000);
  for (const filler of ['x', '\\"', '\\\\', '\\\\\\"', ':{[,', 'é', '\\u003a'])
    for (let count = 0; count < 300; count += 1) {
      const text = `"${filler.repeat(count)}"`;
      expect([filler, count, toFault(`[${text},1]`)]).toEqual([filler, count, undefined]);
      expect(toFault(`[${text},${many}1]`)).toMatch(/values/);
    }
});

test('accepts 64 levels, and rejects 65 and 10,000', () => {
  const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
  expect(toFault(nested(64))).toBeUndefined();
  expect(toFault(`[${'[[]],'.repeat(100)}1]`)).toBeUndefined();
  for (const levels of [65, 10_000]) expect(toFault(nested(levels))).toMatch(/64 levels/);
});

test('accepts 10,000 values, and rejects more', () => {
  const names = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`;
  expect(toFault(names(10_000))).toBeUndefined();
  for (const text of [names(10_001), `[${'1,'.repeat(10_000)}1]`, `[${'[],'.repeat(5_001)}1]`])
    expect(toFault(text)).toMatch(/10000 values/);
});

test.each(['"', '{"a', '{"a\\', '}}}]', '{"a":"\\"', '\\', ''])(
  'leaves %p, which is not JSON, to the parser',
  (text) => {
    expect(toFault(text)).toBeUndefined();
  },
);
