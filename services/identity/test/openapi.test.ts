import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startIdentity } from './identity.js';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));

test('openapi.json equals the generated document (update it with UPDATE_OPENAPI=1)', async () => {
  const identity = await startIdentity();
  const { body } = await identity.call('GET', '/docs/json');
  await identity.close();
  const text = `${JSON.stringify(body, null, 2)}\n`;
  if (process.env.UPDATE_OPENAPI) await writeFile(file, text);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});
