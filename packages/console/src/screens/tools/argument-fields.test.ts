import { findInvalid, toArgumentFields, toArguments } from './argument-fields.ts';

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer', default: 10 },
    query: { type: 'string', description: 'The words' },
    kind: { enum: ['page', 'file'] },
    isExact: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    filter: { type: 'object', properties: { a: { type: 'string' } } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    anything: true,
  },
  required: ['query'],
};

test('UI-40 a schema becomes fields, the required ones first, and what a form cannot ask for is JSON', () => {
  expect(toArgumentFields(schema).map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial])).toEqual([
    ['query', 'text', true, ''],
    ['limit', 'integer', false, '10'],
    ['kind', 'choice', false, ''],
    ['isExact', 'boolean', false, ''],
    ['tags', 'lines', false, ''],
    ['filter', 'json', false, ''],
    ['either', 'json', false, ''],
    ['anything', 'json', false, ''],
  ]);
  expect(toArgumentFields({})).toEqual([]);
  expect(toArgumentFields({ properties: null, required: 'query' })).toEqual([]);
}); // oxfmt-ignore

test('UI-40 what was typed becomes arguments of their types, and what is empty is left out', () => {
  const typed = { query: ' a b ', limit: '3', isExact: 'false', tags: 'x\n\n y ', filter: '{"a":"b"}', either: '', kind: '' };
  expect(toArguments(toArgumentFields(schema), typed)).toEqual({
    query: ' a b ',
    limit: 3,
    isExact: false,
    tags: ['x', 'y'],
    filter: { a: 'b' },
  });
}); // oxfmt-ignore

test.each([
  ['integer', '1.5', 'integer'],
  ['integer', '', undefined],
  ['number', 'x', 'number'],
  ['number', '1.5', undefined],
  ['json', '{', 'json'],
  ['json', '[]', undefined],
  ['text', '{', undefined],
] as const)('UI-40 a field for %s finds %j %s', (kind, typed, expected) => {
  expect(findInvalid({ kind }, typed)).toBe(expected);
});
