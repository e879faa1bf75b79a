import { listFiles, read } from './files.js';

/** The messages that people see, as the page quotes them. */
const messages = [...read('docs/troubleshooting.md').matchAll(/^ *```text\n(.*?)^ *```/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.trim())
  .filter((line) => line !== '');

/** Those that come from somebody else: cmd.exe and Docker Compose. */
const foreign = [/^'exec' is not recognized/, /^service "databases" didn't complete/];

/** Everything that can print a message, with strings that are continued on the next line joined. */
const sources = listFiles('.', (path) => /\.(?:m?[jt]s|sh)$/.test(path) && !/\btest\b/.test(path))
  .map(read)
  .join('\n')
  .replaceAll(/['`]\s*\+\s*['`]/g, '')
  .replaceAll(/\\(['`])/g, '$1');

test('every message that the page quotes is in the sources', () => {
  expect(messages.length).toBeGreaterThan(20);
  const parts = messages
    .filter((message) => !foreign.some((pattern) => pattern.test(message)))
    .flatMap((message) => message.split(/<[^>]+>/))
    .map((part) => part.trim())
    .filter((part) => part.length > 3);
  expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
});
