import { pinDefinition } from './definition.js';
import { findDifferences } from './documents.js';
import { findFlags } from './flags.js';

const tool = (description: string, properties: Record<string, Record<string, string>> = {}) => ({
  name: 'search',
  description,
  inputSchema: { type: 'object' as const, properties },
});

test('the hash of a definition depends on its values, not on the order of keys', () => {
  const pinned = pinDefinition(tool('Searches', { a: { type: 'string' }, b: { type: 'number' } }));
  const reordered = pinDefinition({
    inputSchema: { properties: { b: { type: 'number' }, a: { type: 'string' } }, type: 'object' },
    description: 'Searches',
    name: 'search',
  });
  expect(reordered.hash).toBe(pinned.hash);
  expect(pinDefinition(tool('Searches!')).hash).not.toBe(pinDefinition(tool('Searches')).hash);
});

test('a difference names the smallest part that differs', () => {
  const before = tool('Searches', { 'a/b': { type: 'string' }, old: {} });
  const after = tool('Searches all', { 'a/b': { type: 'number' }, new: { type: 'string' } });
  expect(findDifferences(before, after)).toEqual([
    { path: '/description', from: '"Searches"', to: '"Searches all"' },
    { path: '/inputSchema/properties/a~1b/type', from: '"string"', to: '"number"' },
    { path: '/inputSchema/properties/old', from: '{}', to: null },
    { path: '/inputSchema/properties/new', from: null, to: '{"type":"string"}' },
  ]);
  expect(findDifferences(before, structuredClone(before))).toEqual([]);
});

test.each([
  ['Searches the wiki.\nReturns at most 10 pages.', []],
  ['Searches 文書 und Übersichten – “quoted”, 1 × 2 ✓', []],
  ['Use `query` for words. You can pass a language.', []],
  ['Searches\u200B the wiki', ['hidden_characters']],
  ['Searches \u202Ethe wiki', ['hidden_characters']],
  ['Searches \u{E0041}\u{E0042}', ['hidden_characters']],
  ['Searches \u0007', ['hidden_characters']],
])('flags of %j', (description, expected) => {
  expect(findFlags(tool(description))).toEqual(expected);
});

test('flags the text of parameters too', () => {
  expect(findFlags(tool('Searches', { query: { description: 'Words\u200B' } }))).toEqual([
    'hidden_characters',
  ]);
});
