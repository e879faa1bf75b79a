import { getEffectiveScope, matchesPattern } from './gate.js';
import { SERVER_NAME_PATTERN, toMountedName } from './server-name.js';

test.each([
  ['*_search', 'wiki_search', true],
  ['*_search', 'search', false],
  ['search_*', 'search_', true],
  ['*', 'anything', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['ab*ba', 'aba', false],
  ['search', 'search', true],
  ['search', 'search_all', false],
  ['.earch', 'search', false],
])('the pattern %s and the name %s', (pattern, name, expected) => {
  expect(matchesPattern(pattern, name)).toBe(expected);
});

test("a tool's own mapping wins over the rules, and the first rule that matches decides", () => {
  const rules = [
    { pattern: '*_search', scope: 'kb:read' },
    { pattern: '*', scope: 'semantic:write' },
  ] as const;
  expect(getEffectiveScope('wiki_search', null, rules)).toBe('kb:read');
  expect(getEffectiveScope('save', null, rules)).toBe('semantic:write');
  expect(getEffectiveScope('save', 'none', rules)).toBeUndefined();
  expect(getEffectiveScope('wiki_search', 'semantic:write', rules)).toBe('semantic:write');
  expect(getEffectiveScope('wiki_search', null, [])).toBeUndefined();
});

test('rejects names of servers that would produce the same tool name', () => {
  const form = new RegExp(SERVER_NAME_PATTERN, 'u');
  expect(['wiki', 'wiki-2', 'my_wiki', 'w', 'a'.repeat(32)].every((name) => form.test(name))).toBe(true);
  for (const name of ['', 'a__b', 'a_', '_a', '-a', 'Wiki', 'a b', 'a.b', 'ä', 'a'.repeat(33)])
    expect([name, form.test(name)]).toEqual([name, false]);
  expect(toMountedName('wiki', 'search')).toBe('wiki__search');
  expect(toMountedName('wiki', 'a/b')).toBeUndefined();
  expect(toMountedName('wiki', 'a'.repeat(59))).toBeUndefined();
});
