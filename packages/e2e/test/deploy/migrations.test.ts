import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../../../..');

const migrations = ['identity', 'mail', 'crawl'].flatMap((service) => {
  const folder = join(repository, 'services', service, 'prisma/migrations');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      name: `${service}/${name}`,
      // The SQL without comments and function bodies.
      sql: readFileSync(join(folder, name, 'migration.sql'), 'utf8')
        .replaceAll(/--.*$/gm, '')
        .replaceAll(/\$\$[^]*?\$\$/g, '')
        .toLowerCase(),
    }));
});

/** @returns the tables that the expression finds in the migration, except tables that the migration itself creates. */
function findExistingTables(sql: string, expression: RegExp): (string | undefined)[] {
  const created = [...sql.matchAll(/create table\s+(\w+)/g)].map(([, table]) => table);
  return [...sql.matchAll(expression)].map(([, table]) => table).filter((table) => !created.includes(table));
}

test.each(migrations)('$name indexes existing tables concurrently', ({ sql }) => {
  expect(findExistingTables(sql, /create (?:unique )?index (?!concurrently)\w+\s+on (\w+)/g)).toEqual([]);
});

test.each(migrations)('$name changes no rows while it locks a table', ({ sql }) => {
  const locked = findExistingTables(sql, /(?:alter table|create trigger [^;]*? on)\s+(\w+)/g);
  const writes = /^\s*(?:with|insert|update|delete)\s/m.test(sql);
  expect({ locked: writes ? locked : [] }).toEqual({ locked: [] });
});
