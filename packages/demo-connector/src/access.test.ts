import { type AccessFile, createAccessRules } from './access.js';

const group = (id: string) => ({ kind: 'group' as const, id });
const everyone = [{ kind: 'everyone' }];
const at = (path: string, text: string | undefined): AccessFile => ({ path, text });
const inRoot = (text: string) => createAccessRules([at('.access.yaml', text)]);

test('without a file, everything is for everyone', () => {
  expect(createAccessRules([]).find('a/b.md')).toEqual(everyone);
});

test('what no pattern matches is for nobody', () => {
  expect(inRoot('a.md: everyone').find('b.md')).toEqual([]);
  for (const empty of ['', '{}', '# nothing yet']) expect(inRoot(empty)).toMatchObject({ faults: [] });
  expect(inRoot('').find('b.md')).toEqual([]);
});

test.each([
  ['a.md', 'a.md', true],
  ['a.md', 'b/a.md', false],
  ['*.md', 'a.md', true],
  ['*.md', 'b/a.md', false],
  ['*', 'b/c/a.md', true],
  ['**', 'a.md', true],
  ['**/*.md', 'a.md', true],
  ['**/*.md', 'b/c/a.md', true],
  ['**/*.md', 'b/c/a.txt', false],
  ['board', 'board/x/a.md', true],
  ['board', 'board', true],
  ['board', 'boards/a.md', false],
  ['board/', 'board/a.md', true],
  ['board/**', 'board/x/a.md', true],
  ['board/*/a.md', 'board/x/a.md', true],
  ['board/*/a.md', 'board/x/y/a.md', false],
  ['board/**/a.md', 'board/a.md', true],
  ['board/**/a.md', 'board/x/y/a.md', true],
  ['**/x/**/a.md', 'x/b/x/c/d/a.md', true],
  ['b*d/a*.md', 'board/abc.md', true],
  ['B*', 'board/a.md', false],
  ['a.c', 'abc', false],
  ['caf\u{e9}', 'cafe\u{301}/a.md', true],
])('the pattern %j and the path %j: %j', (pattern, path, isMatch) => {
  const rules = inRoot(`${JSON.stringify(pattern)}: everyone`);
  expect(rules.find(path)).toEqual(isMatch ? everyone : []);
});

test('a pattern with many wildcards is as quick as any other', () => {
  const rules = inRoot(`"${'*a'.repeat(60)}b": everyone\n"${'**/a/'.repeat(60)}b": everyone`);
  expect(rules.find('a'.repeat(400))).toEqual([]);
  expect(rules.find(`${'a/'.repeat(240)}c`)).toEqual([]);
});

test('the most specific pattern decides, and the later of two that are equally specific', () => {
  const rules = inRoot(
    [
      "'**': everyone",
      'board: [{kind: group, id: Board}]',
      'board/minutes: [{kind: group, id: Minutes}]',
      "'*.md': [{kind: user, id: ada@example.com}]",
      'drafts: []',
      "'ab*': [{kind: group, id: One}]",
      "'*ab': [{kind: group, id: Two}]",
    ].join('\n'),
  );
  expect(rules.find('x/y.txt')).toEqual(everyone);
  expect(rules.find('board/a.txt')).toEqual([group('Board')]);
  expect(rules.find('board/minutes/a.txt')).toEqual([group('Minutes')]);
  expect(rules.find('a.md')).toEqual([{ kind: 'user', id: 'ada@example.com' }]);
  expect(rules.find('drafts/a.txt')).toEqual([]);
  expect(rules.find('abab')).toEqual([group('Two')]);
});

test('the nearest file that has a pattern for a document decides', () => {
  const rules = createAccessRules([
    at('.access.yaml', "'**': everyone\nboard: []"),
    at('board/.access.yaml', 'a.md: [{kind: group, id: Board}]'),
  ]);
  expect(rules.find('board/a.md')).toEqual([group('Board')]);
  expect(rules.find('board/b.md')).toEqual([]);
  expect(rules.find('c.md')).toEqual(everyone);
  const alone = createAccessRules([at('board/.access.yaml', 'a.md: [{kind: group, id: Board}]')]);
  expect(alone.find('c.md')).toEqual(everyone);
  expect(alone.find('board/b.md')).toEqual([]);
});

test.each([
  ['is no YAML', 'a: [', /^x\/\.access\.yaml: .*line 1, column 5/],
  [
    'has a key twice',
    'a: everyone\na: []',
    /^x\/\.access\.yaml: Map keys must be unique at line 2, column 1/,
  ],
  ['is a list', '[a]', /^x\/\.access\.yaml: /],
  ['has another word', 'a: public', /^x\/\.access\.yaml: \/a /],
  ['names no group', 'a: [{kind: group}]', /^x\/\.access\.yaml: \/a/],
  ['cannot be read', undefined, /^x\/\.access\.yaml: It cannot be read/],
])('a file that %s means nobody, and says where', (_what, text, fault) => {
  const rules = createAccessRules([at('.access.yaml', "'**': everyone"), at('x/.access.yaml', text)]);
  expect(rules.faults).toEqual([expect.stringMatching(fault)]);
  expect([rules.find('x/a'), rules.find('x/y/b.md')]).toEqual([[], []]);
  expect(rules.find('z.md')).toEqual(everyone);
});

test('the fingerprint changes with who may find a document, and with nothing else', () => {
  const one = inRoot('a: everyone\nb: [{kind: group, id: B}]');
  const other = inRoot('# another\nb: [{kind: group, id: C}]\na: everyone');
  expect(one.getFingerprint('a')).toBe(other.getFingerprint('a'));
  expect(one.getFingerprint('b')).not.toBe(other.getFingerprint('b'));
});
