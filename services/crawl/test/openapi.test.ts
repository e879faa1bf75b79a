import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { callUrl } from '@platform/testing';
import { startPlatform } from './support/platform.js';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));

test('openapi.json is what the service documents (renew it with UPDATE_OPENAPI=1)', async () => {
  const platform = await startPlatform({ backend: 'postgres' });
  const { body } = await callUrl(`${platform.crawl.url}/docs/json`, 'GET');
  await platform.close();
  const text = `${JSON.stringify(body, null, 2)}\n`;
  if (process.env.UPDATE_OPENAPI) await writeFile(file, text);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});
