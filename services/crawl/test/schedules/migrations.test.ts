import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { outboxSql } from '@platform/events';

it('the migration holds the outbox of packages/events, word for word', async () => {
  const path = '../../prisma/migrations/20261121000000_initial/migration.sql';
  const sql = await readFile(fileURLToPath(new URL(path, `file://${__filename}`)), 'utf8');
  expect(sql).toContain(outboxSql);
});
