import { splitAtSources } from './source-addresses.ts';

const ORIGIN = 'https://platform.example.com';
const find = (text: string) =>
  splitAtSources(text, ORIGIN).flatMap((part) => (part.source ? [[part.text, part.source]] : []));

test('finds the addresses of sources, with the run that is named', () => {
  const text = `a\n\nCrawled by ${ORIGIN}/knowledge/wiki_1?run=r1 and ${ORIGIN}/knowledge/files%2F1.`;
  expect(find(text)).toEqual([
    [`${ORIGIN}/knowledge/wiki_1?run=r1`, { of: 'wiki_1', run: 'r1' }],
    [`${ORIGIN}/knowledge/files%2F1`, { of: 'files/1', run: undefined }],
  ]);
  expect(splitAtSources(text, ORIGIN).map((part) => part.text).join('')).toBe(text); // oxfmt-ignore
});

test.each([
  'no address at all',
  'https://elsewhere.example/knowledge/wiki_1',
  `${ORIGIN}/settings/wiki_1`,
  `${ORIGIN}/knowledge/wiki_1/more`,
  `${ORIGIN}/knowledge/`,
  // What a foreign server answers need not be valid.
  `${ORIGIN}/knowledge/%`,
  `${ORIGIN}/knowledge/%ff`,
  'https://[/knowledge/wiki_1',
])('leaves %s as text', (text) => {
  expect(splitAtSources(text, ORIGIN)).toEqual([{ text }]);
});
