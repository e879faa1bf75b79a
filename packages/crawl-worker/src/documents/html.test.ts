import { htmlToMarkdown } from './html.js';

test('keeps the headings and the text of HTML, and nothing that is not shown', () => {
  const html = `<!doctype html><html><head><title>T</title><style>p { color: red }</style></head><body>
    <h1>Cats &amp; dogs</h1><p>They <b>purr</b>,
    and bark.<script>alert(1)</script></p><ul><li>one<li>two</ul><h2>Food</h2>Fish</body></html>`;
  expect(htmlToMarkdown(html)).toBe('# Cats & dogs\n\nThey purr, and bark.\n\none\n\ntwo\n\n## Food\nFish');
});

test('takes the title where there is no heading', () => {
  expect(htmlToMarkdown('<head><title>Cats</title></head><p>Purr')).toBe('# Cats\n\nPurr');
});

test('takes the title of the document, not that of an image, and needs no end of the head', () => {
  const html = '<title>Cats</title><body><svg><title>Logo</title></svg><p>Purr';
  expect(htmlToMarkdown(html)).toBe('# Cats\n\nPurr');
  expect(htmlToMarkdown(`<html><head>${html}`)).toBe('# Cats\n\nPurr');
});
