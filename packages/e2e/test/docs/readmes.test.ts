import { dirname, join } from 'node:path';
import { listFiles, read } from './files.js';

/** The headings of every README of a service or package, in this order. Those that don't apply are omitted. */
const SKELETON = ['Quick start', 'Concepts', 'Configuration', 'API', 'Operations', 'Decisions'];
const MAX_WORDS = { identity: 1_300, mail: 1_300, crawl: 1_500 };

const folders = listFiles('.', (path) => /^(?:packages|services)\/[^/]+\/package\.json$/.test(path)).map(
  dirname,
);
const readReadme = (folder: string): string => read(join(folder, 'README.md'));

const getHeadings = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```.*?^```/gms, '').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);

test('every service and package has a README', () => {
  expect(folders.length).toBeGreaterThan(10);
  const found = listFiles('.', (path) => path.endsWith('/README.md')).map(dirname);
  expect(folders.filter((folder) => !found.includes(folder))).toEqual([]);
});

test.each(folders)('the README of %s has the common headings', (folder) => {
  const [title, intro] = readReadme(folder).split('\n\n');
  expect(title).toBe(`# ${folder.split('/')[1]}`);
  expect(intro).toMatch(/^[A-Z].*\.$/);
  const headings = getHeadings(readReadme(folder));
  expect(headings).toEqual(SKELETON.filter((heading) => headings.includes(heading)));
  expect(headings[0]).toBe('Quick start');
});

test.each(Object.entries(MAX_WORDS))('the README of %s stays short', (service, maxWords) => {
  expect(readReadme(`services/${service}`).split(/\s+/).length).toBeLessThanOrEqual(maxWords);
});

test.each([...folders, 'k8s'])(
  'the tables of variables and options of %s have the common order of columns',
  // prettier-ignore
  (folder) => {
    const headers = [...readReadme(folder).matchAll(/^\| (?:Variable|Option) .*$/gm)].map(([row]) =>
    row.split('|').map((cell) => cell.trim()).filter(Boolean),
  );
    expect(headers.filter((columns) => !columns.join().endsWith('Default,Meaning'))).toEqual([]);
  },
);
