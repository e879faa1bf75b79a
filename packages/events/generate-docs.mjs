// Writes the JSON Schemas and the AsyncAPI document below docs/, and the list of facts; a test fails while they are not up to date.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { replaceGenerated } from '@platform/testing';
import { buildDocuments, buildFactList } from './dist/documents.js';

const docs = new URL('docs/', import.meta.url);
await rm(docs, { recursive: true, force: true });
await mkdir(new URL('schemas/', docs), { recursive: true });
for (const [name, content] of Object.entries(buildDocuments()))
  await writeFile(new URL(name, docs), `${JSON.stringify(content, null, 2)}\n`);

const page = new URL('../../docs/connect/events.md', import.meta.url);
await writeFile(page, replaceGenerated(await readFile(page, 'utf8'), 'facts', buildFactList()));
