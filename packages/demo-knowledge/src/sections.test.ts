import { parsePage } from './sections.js';

const fence = '```';

test('splits a page at its headings, but not inside blocks of code', () => {
  const page = parsePage(
    `Before.\r\n# Cats #\nThey purr.\n${fence}sh\n# a comment\n~~~\n${fence}\n## Food\nFish.\n#no heading`,
    'cats',
  );
  expect(page).toEqual({
    title: 'Cats',
    sections: [
      { heading: '', text: 'Before.' },
      { heading: 'Cats', text: `# Cats #\nThey purr.\n${fence}sh\n# a comment\n~~~\n${fence}` },
      { heading: 'Food', text: '## Food\nFish.\n#no heading' },
    ],
  });
});

test('splits long sections, and takes the file name as title where there is no heading', () => {
  const { title, sections } = parsePage(`${'a'.repeat(8_000)}b\0`, 'notes');
  expect(title).toBe('notes');
  expect(sections.map(({ text }) => text.length)).toEqual([8_000, 1]);
  expect(parsePage('', 'empty')).toEqual({ title: 'empty', sections: [] });
});
