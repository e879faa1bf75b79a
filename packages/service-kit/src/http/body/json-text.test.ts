import { findInexactNumber, JsonText, parseJson, readJsonText, stringifyJson } from './json-text.js';

test.each([
  ['{"a": 1234567890123456789}', ['a'], '1234567890123456789'],
  ['{"a":1e400,"b":2}', ['a'], '1e400'],
  ['{"a":-0 }', ['a'], '-0'],
  [
    '{ "x": {"a": 9} , "a" : { "b\\"}" : [1.10, "]}", {}] } , "c": null }',
    ['a'],
    '{ "b\\"}" : [1.10, "]}", {}] }',
  ],
  ['{"a":{"b":{"c":"\\u0041\\\\"}}}', ['a', 'b', 'c'], '"\\u0041\\\\"'],
  ['{"\\u0061": true}', ['a'], 'true'],
  ['{"a":1,"a":2}', ['a'], '2'],
  ['{"a":[[],[{}]],"b":"ü"}', ['b'], '"ü"'],
  ['{}', ['a'], undefined],
  ['[{"a":1}]', ['a'], undefined],
  ['"a"', ['a'], undefined],
  ['{"a":1}', ['a', 'b'], undefined],
])('reads from %s at %j the text %s', (text, path, found) => {
  expect(readJsonText(text, path)).toBe(found);
});

test('reads each member of what JSON.stringify writes, however its strings are escaped', () => {
  const strings = [
    '',
    '"',
    '\\',
    '\\"',
    '{"a":[',
    '\\\\"',
    '\n\u2028',
    ',:]}',
    '\\'.repeat(99),
    '"'.repeat(99),
  ];
  const value = Object.fromEntries(
    strings.flatMap((one) => [
      [one, { [one]: [one] }],
      [`${one}2`, one],
      [`${one}3`, -1.5e-9],
    ]),
  );
  for (const indent of [0, 2]) {
    const text = JSON.stringify(value, null, indent);
    for (const [name, member] of Object.entries(value))
      expect(JSON.parse(readJsonText(text, [name]) ?? '')).toEqual(member);
  }
});

test.each([
  '0', '-0', '0.0', '0e999', '1', '1.0', '1.10', '0.1', '9007199254740991', '-9007199254740992', '1e21', '1E+2', '15e-1',
  '1000000000000000000000000', '123456789012345680000', '1.7976931348623157e308', '5e-324', '0.30000000000000004',
  '33.333333333333336', '{"a":["1e400",{"12345678901234567890":0}]}',
])('finds no inexact number in %s', (text) => {
  expect(findInexactNumber(text)).toBeUndefined();
}); // oxfmt-ignore

test.each([
  '1234567890123456789', '-9007199254740993', '1e400', '-1e400', '1e-400', '0.12345678901234567890', '1e99999999999999999999',
  '100000000000000000000000000000001',
])('finds the inexact number %s', (number) => {
  expect(findInexactNumber(`{"a\\"":[0.5,"1e999",{"b":${number}}],"c":1e500}`)).toBe(number);
}); // oxfmt-ignore

test('writes texts as they are among other values', () => {
  const text = '{"cursor": 1234567890123456789, "$&": "\\u0041"}';
  const value = { a: new JsonText(text), list: [1, new JsonText('1e400'), { b: 'x' }], none: undefined };
  expect(stringifyJson(value)).toBe(`{"a":${text},"list":[1,1e400,{"b":"x"}]}`);
  expect(stringifyJson({ a: [1, null] })).toBe('{"a":[1,null]}');
});

test('reads numbers so that they are written as they were', () => {
  const text = '{"maximum":12345678901234567890,"list":[1.5,-1e400,"1e400"],"a\\"1e400":{"b":100000000000000000000000000000001}}';
  expect(parseJson(text)).toMatchObject({ maximum: new JsonText('12345678901234567890'), list: [1.5, new JsonText('-1e400'), '1e400'] });
  expect(stringifyJson(parseJson(text))).toBe(text);
  expect(parseJson('{"a":[1.0,null,"\\u0041"]}')).toEqual({ a: [1, null, 'A'] });
  expect(() => parseJson('{"a":1e400')).toThrow(SyntaxError);
}); // oxfmt-ignore
