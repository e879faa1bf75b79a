import { listFiles, read } from './files.js';

const page = read('docs/troubleshooting.md');

/** The messages that users see, as the page quotes them. */
const messages = [...page.matchAll(/^ *```text\n(.*?)^ *```/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.trim())
  .filter((line) => line !== '');

/** Messages of other programs: cmd.exe and Docker Compose. */
const foreign = [/^'exec' is not recognized/, /^service "databases" didn't complete/];

/** All sources that can print a message; strings that continue on the next line are joined. */
const sources = listFiles('.', (path) => /\.(?:m?[jt]s|sh)$/.test(path) && !/\btest\b/.test(path))
  .map(read)
  .join('\n')
  .replaceAll(/['`]\s*\+\s*['`]/g, '')
  .replaceAll(/\\(['`])/g, '$1');

test('every message that the page quotes occurs in the sources', () => {
  expect(messages.length).toBeGreaterThan(20);
  const parts = messages
    .filter((message) => !foreign.some((pattern) => pattern.test(message)))
    .flatMap((message) => message.split(/<[^>]+>/))
    .map((part) => part.trim())
    .filter((part) => part.length > 3);
  expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
});

/** Sources of responses: those of commands print messages, and the inbox is for its own page. */
const responding = listFiles(
  '.',
  (path) =>
    /^(?:services|packages)\/[^/]+\/src\/.*\.ts$/.test(path) &&
    !/\.test\.ts$|\/commands|^packages\/(?:testing|e2e|bench|embedded|clients|demo-knowledge|demo-connector|crawl-worker)\/|\/inbox\//.test(
      path,
    ),
);

/** A code where an error is made: as a field, behind a condition, as the first argument, or by its status. */
const CODE =
  /(?:\bcode: (?:[^'\n]*\? '[A-Z_]+' : )?|\bcode: [^'\n]*\? |\b(?:conflict|refused|unauthorised)\(\s*|\b\d{3}: \[)'([A-Z][A-Z_]{3,})'/g;

/** Codes of nodemailer and Node, which the service translates. */
const isForeign = (code: string): boolean => /^E[A-Z]+$/.test(code) && code !== 'EXPIRED';

test('the page names every error code that the platform answers', () => {
  const codes = new Set(
    responding.flatMap((path) => [...read(path).matchAll(CODE)].map(([, code = '']) => code)),
  );
  expect(codes.size).toBeGreaterThan(80);
  expect([...codes].filter((code) => !isForeign(code) && !page.includes(`\`${code}\``)).toSorted()).toEqual(
    [],
  );
});
