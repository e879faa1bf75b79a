import { replaceGenerated } from './generated-section.js';

const table = '| Name |\n| --- |\n| `A` |';

test.each(['- one\n', table, `**first**\n\n${table}\n`])(
  'puts %j between the markers, whatever was there',
  (content) => {
    const page = (inside: string) => `# Page\n\n<!-- list -->\n${inside}<!-- /list -->\n\nEnd\n`;
    for (const inside of ['', '\n', '\n- old\n\n', '\n| Old |\n| --- |\n| x |\n\n'])
      expect(replaceGenerated(page(inside), 'list', content)).toBe(page(`\n${content.trim()}\n\n`));
  },
);

test.each([
  ['- one', '# Page\n'],
  ['- one', '<!-- list -->\n'],
  ['- one', '<!-- list -->\n<!-- /list -->\n<!-- list -->\n<!-- /list -->\n'],
  ['', '<!-- list -->\n<!-- /list -->\n'],
  ['text only', '<!-- list -->\n<!-- /list -->\n'],
  ['| Name |\n| --- |', '<!-- list -->\n<!-- /list -->\n'],
  [`${table}\n\n**second**\n\n| Name |\n| --- |\n`, '<!-- list -->\n<!-- /list -->\n'],
])('refuses to put %j into %j', (content, page) => {
  expect(() => replaceGenerated(page, 'list', content)).toThrow(/must have one place|nothing to put/);
});
