import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../../..');
const requirements = readFileSync(join(root, 'docs/requirements.md'), 'utf8');
const defined = [...requirements.matchAll(/^- \*\*([A-Z]+-\d+)\*\* /gm)].map(([, id = '']) => id);
const areas = [...new Set(defined.map((id) => id.replace(/-\d+$/, '')))];
const citation = new RegExp(`\\b(?:${areas.join('|')})-\\d+\\b`, 'g');

const skipped = /(?:^|\/)(?:node_modules|dist|generated|results)(?:\/|$)/;
const source = /\.(?:[cm]?[jt]s|sql|prisma|md)$/;

/** Sources and documents, without what programs have written. */
function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (skipped.test(path)) return [];
    if (entry.isDirectory()) return listFiles(path);
    return source.test(path) ? [path] : [];
  });
}

const files = ['packages', 'services', 'docs', 'k8s'].flatMap(listFiles);
const lines = files.flatMap((path) =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .map((text, index) => ({ place: `${path}:${index + 1}`, text })),
);

test('every requirement has an id of its own', () => {
  expect(defined.length).toBeGreaterThan(100);
  expect(defined.filter((id, index) => defined.indexOf(id) !== index)).toEqual([]);
});

test('every id that sources and documents cite is a requirement', () => {
  const cited = lines.flatMap(({ place, text }) =>
    [...text.matchAll(citation)].map(([id]) => ({ place, id })),
  );
  expect(cited.length).toBeGreaterThan(defined.length);
  expect(cited.filter(({ id }) => !defined.includes(id))).toEqual([]);
});

test('no comment cites a section of a document that is not in the repository', () => {
  expect(lines.filter(({ text }) => /\bsection \d/i.test(text) && !/\bRFC \d/.test(text))).toEqual([]);
});
