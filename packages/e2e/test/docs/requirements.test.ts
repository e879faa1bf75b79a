import { listFiles, read } from './files.js';

const defined = [...read('docs/requirements.md').matchAll(/^- \*\*([A-Z]+-\d+)\*\* /gm)].map(
  ([, id = '']) => id,
);
const areas = [...new Set(defined.map((id) => id.replace(/-\d+$/, '')))];
const citation = new RegExp(`\\b(?:${areas.join('|')})-\\d+\\b`, 'g');

const lines = listFiles('.', (path) => /\.(?:[cm]?[jt]s|sql|prisma|md)$/.test(path)).flatMap((path) =>
  read(path)
    .split('\n')
    .map((text, index) => ({ place: `${path}:${index + 1}`, text })),
);

test('every requirement has a unique id', () => {
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
