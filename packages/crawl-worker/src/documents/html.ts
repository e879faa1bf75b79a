import { Parser } from 'htmlparser2';

const IGNORED = new Set(['script', 'style', 'noscript', 'template', 'svg']);
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);

/** Converts HTML to text with the headings of Markdown. The title of the document is used if there is no heading. */
export function htmlToMarkdown(html: string): string {
  let text = '';
  let title = '';
  let ignored = 0;
  let isTitle = false;
  const parser = new Parser({
    onopentagname(name) {
      if (name === 'title') isTitle = ignored === 0;
      if (IGNORED.has(name)) ignored += 1;
      if (BLOCKS.has(name)) text += '\n';
      if (/^h[1-6]$/.test(name)) text += `\n${'#'.repeat(Number(name[1]))} `;
    },
    ontext(data) {
      if (isTitle) title += data;
      else if (ignored === 0) text += data.replaceAll(/\s+/g, ' ');
    },
    onclosetag(name) {
      if (name === 'title') isTitle = false;
      if (IGNORED.has(name)) ignored -= 1;
      if (BLOCKS.has(name)) text += '\n';
    },
  });
  parser.end(html);
  const body = text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return /^#{1,6} \S/m.test(body) || title.trim() === '' ? body : `# ${title.trim()}\n\n${body}`;
}
