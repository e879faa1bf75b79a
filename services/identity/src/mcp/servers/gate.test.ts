import { getEffectiveScope, matchesPattern } from './gate.js';
import { SERVER_NAME_PATTERN, toMountedName } from '../../base/mounted-name.js';

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
});

test.each([
  ['search', 'wiki__search'],
  ['a'.repeat(58), `wiki__${'a'.repeat(58)}`],
  ['a'.repeat(59), `wiki__${'a'.repeat(48)}_x111bb261`],
  ['a/b', 'wiki__a_b_xc14cddc0'],
  ['a.b', 'wiki__a_b_x2e7336dc'],
  // A name that looks like a mounted one does not meet it.
  ['a_b_xc14cddc0', 'wiki__a_b_xc14cddc0_x70193e04'],
])('MCP-36: the tool %s is mounted as %s', (name, mounted) => {
  expect(toMountedName('wiki', name)).toBe(mounted);
});

test('MCP-36: names of tools that differ are mounted under names that differ, which every client accepts', () => {
  const parts = ['a', 'A', '.', '/', '-', '_', '__', '0', 'get', 'x'.repeat(40), '_x01234567'];
  const names = new Set(parts.flatMap((a) => parts.flatMap((b) => parts.map((c) => a + b + c))));
  for (const name of [...names].slice(0, 200)) names.add(toMountedName('w', name).slice('w__'.length));
  for (const server of ['w', 's'.repeat(32)]) {
    const mounted = [...names].map((name) => toMountedName(server, name));
    expect(new Set(mounted).size).toBe(names.size);
    expect(mounted.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
  }
});
