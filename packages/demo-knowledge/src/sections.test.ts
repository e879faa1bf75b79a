import { parsePage } from './sections.js';

const fence = '```';

test('splits a page at its headings, but not inside blocks of code', () => {
  const page = parsePage(
    `Before.\r\n# Cats #\nThey purr.\n${fence}sh\n# a comment\n~~~\n${fence}\n## Food\nFish.\n#no heading`,
    'About cats',
  );
  expect(page).toEqual({
    title: 'About cats',
    sections: [
      { heading: '', text: 'Before.' },
      { heading: 'Cats', text: `# Cats #\nThey purr.\n${fence}sh\n# a comment\n~~~\n${fence}` },
      { heading: 'Food', text: '## Food\nFish.\n#no heading' },
    ],
  });
});

test('splits long sections', () => {
  const { title, sections } = parsePage(`${'a'.repeat(8_000)}b\0`, 'notes');
  expect(title).toBe('notes');
  expect(sections.map(({ text }) => text.length)).toEqual([8_000, 1]);
  expect(parsePage('', 'empty')).toEqual({ title: 'empty', sections: [] });
});

// oxfmt-ignore
test.each([
  ['at a blank line', `${'a '.repeat(3_000)}\n\n${'b\n'.repeat(1_500)}`, [5_999, 2_999]],
  ['at the end of a line', `${'a '.repeat(3_000)}\n${'b '.repeat(1_500)}`, [5_999, 2_999]],
  ['at a space', 'word '.repeat(2_000), [7_999, 1_999]],
  ['between characters', `a${'\u{1F600}'.repeat(4_000)}`, [7_999, 2]],
])('splits a long section %s', (_where, text, lengths) => {
  const parts = parsePage(text, 'long').sections.map((section) => section.text);
  expect(parts.map((part) => part.length)).toEqual(lengths);
  expect(parts.map((part) => part.toWellFormed())).toEqual(parts);
});
