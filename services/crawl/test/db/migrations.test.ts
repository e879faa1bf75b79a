import { readFile } from 'node:fs/promises';
import { outboxSql } from '@platform/events';

it('the initial migration holds the outbox of packages/events, word for word', async () => {
  const path = new URL('../../prisma/migrations/20261124000000_initial/migration.sql', import.meta.url);
  expect(await readFile(path, 'utf8')).toContain(outboxSql);
});
