import { readFile, writeFile } from 'node:fs/promises';
import { type MailUnderTest, startMail } from './mail.js';

let mail: MailUnderTest;
beforeAll(async () => {
  mail = await startMail();
});
afterAll(() => mail.close());

test.each([
  ['openapi.json', '/docs/json'],
  ['openapi.internal.json', '/internal/openapi.json'],
])('%s matches what the service documents at %s (update it with UPDATE_OPENAPI=1)', async (name, path) => {
  const file = new URL(`../${name}`, import.meta.url);
  const { body } = await mail.call('GET', path);
  if (process.env.UPDATE_OPENAPI) await writeFile(file, `${JSON.stringify(body, null, 2)}\n`);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});
