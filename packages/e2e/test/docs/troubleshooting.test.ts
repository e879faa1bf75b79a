import { listFiles, read } from './files.js';

/** The messages that users see, as the page quotes them. */
const messages = [...read('docs/troubleshooting.md').matchAll(/^ *```text\n(.*?)^ *```/gms)]
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
