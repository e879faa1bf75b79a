import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocumentLine } from '../src/documents/contract.js';

const FILE = join(import.meta.dirname, '../documents.schema.json');

test('the published JSON schema is that of the code; UPDATE_SCHEMA=1 writes it', async () => {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...DocumentLine };
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  if (process.env['UPDATE_SCHEMA']) await writeFile(FILE, text);
  expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(JSON.parse(text));
});
