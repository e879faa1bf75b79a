import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { outboxSql, outboxTraceSql } from '@platform/events';

it.each([
  ['20261121000000_initial', outboxSql],
  ['20261121140000_outbox_traceparent', outboxTraceSql],
])('the migration %s holds the outbox of packages/events, word for word', async (name, text) => {
  const path = `../../prisma/migrations/${name}/migration.sql`;
  const sql = await readFile(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
  expect(sql).toContain(text);
});
