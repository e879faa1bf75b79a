import { findInvalidLine, readRules, writeRules } from './rules.ts';

test('reads rules as they are written, in their order', () => {
  const rules = [
    { pattern: '*_search', scope: 'kb:read' },
    { pattern: 'save', scope: 'semantic:write' },
  ] as const;
  expect(readRules(`\n  ${writeRules(rules).replace(' ', '   ')}\n\n`)).toEqual(rules);
});

test.each([
  ['*_search kb:read\nsave', 'save'],
  ['save crawl:write', 'save crawl:write'],
  ['two words kb:read', 'two words kb:read'],
  ['* kb:read\n', undefined],
])('finds the invalid line of %j', (typed, line) => {
  expect(findInvalidLine(typed)).toBe(line);
});
