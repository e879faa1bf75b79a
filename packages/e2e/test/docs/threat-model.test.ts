import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from './files.js';

/* The walls that the threat model names, and the requirements of OWASP ASVS, against the tests that exist. */

const model = read('docs/threat-model.md');
const asvs = read('docs/asvs.md');
/** The ids of OWASP ASVS 5.0.0 at the Levels 1 and 2, in their order. */
const requirements = read('packages/e2e/test/fixtures/asvs-5.0.0-level-2.txt').trim().split('\n');

const findTests = (text: string): string[] =>
  [...text.matchAll(/`((?:services|packages)\/[^`]+)`/g)].map(([, path = '']) => path);
const findRules = (text: string): string[] => [...text.matchAll(/\b[A-Z]{2,5}-\d+\b/g)].map(([rule]) => rule);

/** The cells of the rows of all tables. */
const readRows = (markdown: string): string[][] =>
  [...markdown.matchAll(/^\| (.+) \|$/gm)]
    .map(([, cells = '']) => cells.split(/ *\| */))
    .filter(([first = '']) => !/^-+$/.test(first));

const walls = readRows(model).filter(([, , test = '']) => test.includes('`'));
const rows = readRows(asvs).filter(([first = '']) => /^\d/.test(first));

/** Returns the ids of a cell such as `1.1.1–1.1.2`. */
function toIds(cell: string): string[] {
  const [first = '', last = first] = cell.split('–');
  return requirements.slice(requirements.indexOf(first), requirements.indexOf(last) + 1);
}

test('OPS-31: each wall has rules, and a test that exists', () => {
  expect(walls.length).toBeGreaterThan(20);
  for (const [wall, rules = '', tests = ''] of walls) {
    expect([wall, findRules(rules).length > 0, findTests(tests).length > 0]).toEqual([wall, true, true]);
    for (const path of findTests(tests)) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
  }
});

test('OPS-31: each requirement of ASVS at Level 2 is met with a test that exists, not met, or not applicable', () => {
  expect(rows.flatMap(([ids = '']) => toIds(ids))).toEqual(requirements);
  for (const [ids, status = '', text = ''] of rows) {
    expect([ids, ['met', 'not met', 'n/a'].includes(status)]).toEqual([ids, true]);
    expect([ids, text.length > 5]).toEqual([ids, true]);
    expect([ids, status !== 'met' || findTests(text).length > 0]).toEqual([ids, true]);
    for (const path of findTests(text)) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
  }
});

test('OPS-31: the numbers in the text are those of the table', () => {
  const count = (wanted: string) =>
    rows.flatMap(([ids = '', status]) => (status === wanted ? toIds(ids) : [])).length;
  const numbers = /Of (\d+) requirements, (\d+) are met, (\d+) are not, and (\d+) do not apply/.exec(asvs);
  expect(numbers?.slice(1).map(Number)).toEqual([
    requirements.length,
    count('met'),
    count('not met'),
    count('n/a'),
  ]);
});
