import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTexts, isolate } from './isolate.js';

const HEBREW = 'שרה';

test('a name from right to left is isolated, and every other one stays as it is', () => {
  expect(isolate(HEBREW)).toBe(`\u2068${HEBREW}\u2069`);
  expect(isolate('Ada Lovelace')).toBe('Ada Lovelace');
  expect(isolate('漢字')).toBe('漢字');
});

test.each([
  ['overrides', '\u202Etxt.exe', 'txt.exe'],
  ['ends its isolation', 'a\u2069\u202Eb', 'ab'],
  ['opens another isolation', 'a\u2067b', 'ab'],
])('a name that %s loses what does', (_what, name, harmless) => {
  expect(isolate(name)).toBe(`\u2068${harmless}\u2069`);
});

test('a text that holds an isolated name keeps its isolation', () => {
  const title = `Revoke ${isolate(HEBREW)} (2)?`;
  expect(isolate(title)).toBe(`\u2068${title}\u2069`);
});

test('texts isolate the names that they are given', () => {
  const texts = createTexts({
    fixed: HEBREW,
    removed: (name: string) => `${name} is removed.`,
    inner: { all: (names: readonly string[], count: number) => `${names.join(', ')} (${count})` },
  });
  expect(texts.fixed).toBe(HEBREW);
  expect(texts.removed(HEBREW)).toBe(`\u2068${HEBREW}\u2069 is removed.`);
  expect(texts.inner.all([HEBREW, 'Ada'], 2)).toBe(`\u2068${HEBREW}\u2069, Ada (2)`);
});

const folder = join(import.meta.dirname, 'en');
const withNames = readdirSync(folder)
  .map((file) => ({ file, source: readFileSync(join(folder, file), 'utf8') }))
  .filter(({ source }) => source.includes('=>'));

test.each(withNames)('the texts of $file isolate names', ({ source }) => {
  expect(source).toMatch(/^export const \w+ = createTexts\(/m);
});
