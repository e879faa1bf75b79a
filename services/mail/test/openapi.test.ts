import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startMail } from './mail.js';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));

test('openapi.json matches what the service documents (update it with UPDATE_OPENAPI=1)', async () => {
  const mail = await startMail();
  const { body } = await mail.call('GET', '/docs/json');
  await mail.close();
  const text = `${JSON.stringify(body, null, 2)}\n`;
  if (process.env.UPDATE_OPENAPI) await writeFile(file, text);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});
