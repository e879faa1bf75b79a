import { findFormFault } from './message-form.js';

const faultOf = (text: string) => findFormFault(text, JSON.parse(text))?.message;

test.each([
  '{}',
  '[]',
  '1',
  '"a:b"',
  '{"a": "b: \\"c\\": \\\\"}',
  '{"a\\":": {"b": [{"c": 1}, {"c": 2}]}, "c": null}',
  '{"a": "\\\\", "b": ":"}',
  '{"\\u0061": 1, "b": ""}',
])('%s is taken', (text) => {
  expect(faultOf(text)).toBeUndefined();
});

test.each(['{"a": 1, "a": 1}', '{"a": 1, "\\u0061": 2}', '[{"b": {"a": ":", "c": {}, "a": []}}]'])(
  '%s has a key twice',
  (text) => {
    expect(faultOf(text)).toBe('has a key twice');
  },
);

test('64 levels are taken, 65 and 10,000 not', () => {
  const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
  expect(faultOf(nested(64))).toBeUndefined();
  for (const levels of [65, 10_000]) expect(faultOf(nested(levels))).toMatch(/64 levels/);
});
