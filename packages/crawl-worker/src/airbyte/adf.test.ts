import { adfToMarkdown } from './adf.js';

const text = (value: string, ...marks: object[]) => ({ type: 'text', text: value, marks });
const paragraph = (...content: object[]) => ({ type: 'paragraph', content });

test('keeps headings, lists, code, tables and what inline nodes say', () => {
  const document = {
    type: 'doc',
    version: 1,
    content: [
      { type: 'heading', attrs: { level: 2 }, content: [text('Outage')] },
      paragraph(
        text('Ask '),
        { type: 'mention', attrs: { text: '@Ada' } },
        text(', see '),
        text('the page', { type: 'link', attrs: { href: 'https://example.com/a' } }),
        { type: 'hardBreak' },
        { type: 'date', attrs: { timestamp: '1764374400000' } },
      ),
      {
        type: 'orderedList',
        content: [
          { type: 'listItem', content: [paragraph(text('one'))] },
          {
            type: 'listItem',
            content: [
              paragraph(text('two')),
              { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph(text('deep'))] }] },
            ],
          },
        ],
      },
      { type: 'codeBlock', attrs: { language: 'sh' }, content: [text('ls\npwd')] },
      {
        type: 'table',
        content: [
          {
            type: 'tableRow',
            content: [
              { type: 'tableHeader', content: [paragraph(text('Cat'))] },
              { type: 'tableCell', content: [paragraph(text('purrs'))] },
            ],
          },
        ],
      },
      { type: 'panel', content: [paragraph(text('A panel.'))] },
      { type: 'mediaSingle', content: [{ type: 'media', attrs: { id: '1' } }] },
    ],
  };
  const expected =
    '## Outage\n\nAsk @Ada, see [the page](https://example.com/a)\n2025-11-29\n\n1. one\n2. two\n   - deep\n\n' +
    '```sh\nls\npwd\n```\n\nCat | purrs\n\nA panel.';
  expect(adfToMarkdown(document)).toBe(expected);
  expect(adfToMarkdown(JSON.stringify(document))).toBe(expected);
});

test.each([
  [null, ''],
  [undefined, ''],
  ['plain {text}', 'plain {text}'],
  ['{"broken', '{"broken'],
  [{ type: 'doc' }, ''],
])('accepts %j', (value, expected) => {
  expect(adfToMarkdown(value)).toBe(expected);
});
