import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceGenerated } from '@platform/testing';
import { buildDocuments, buildFactList } from '../src/documents.js';

const docs = join(import.meta.dirname, '..', 'docs');
const documents = Object.entries(buildDocuments());

test.each(documents)('docs/%s is up to date (else: npm run generate-docs)', (name, content) => {
  expect(readFileSync(join(docs, name), 'utf8')).toBe(`${JSON.stringify(content, null, 2)}\n`);
});

test('the list of facts in docs/connect/events.md is up to date (else: npm run generate-docs)', () => {
  const page = readFileSync(join(docs, '../../../docs/connect/events.md'), 'utf8');
  expect(page).toBe(replaceGenerated(page, 'facts', buildFactList()));
});

test('every reference of the AsyncAPI document resolves', () => {
  const document = buildDocuments()['asyncapi.json'] as Record<string, unknown>;
  const references = JSON.stringify(document).match(/#\/[^"]+/g) ?? [];
  expect(references.length).toBeGreaterThan(30);
  for (const reference of references) {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
    expect(target).toBeDefined();
  }
});
