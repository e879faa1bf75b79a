import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createMailDatabase } from './mail.js';

const schemaFile = fileURLToPath(new URL('../prisma/schema.prisma', import.meta.url));

/** Lists the columns in schema.prisma as `table.column type`, with `?` for nullable ones. */
function readSchema(source: string): string[] {
  return [...source.matchAll(/^model \w+ \{\n([\s\S]*?)^\}/gm)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';
    const fields = body.matchAll(/^ {2}(\w+) +(\w+)(\[\])?(\?)?(.*)$/gm);
    return [...fields].map(([, name = '', type = '', isList, isOptional, attributes = '']) => {
      const column = /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? name;
      return `${table}.${column} ${sqlType(type, attributes)}${isList ?? ''}${isOptional ?? ''}`;
    });
  });
}

function sqlType(type: string, attributes: string): string {
  if (attributes.includes('@db.Uuid')) return 'uuid';
  if (attributes.includes('@db.Timestamptz(3)')) return 'timestamptz';
  return (
    { String: 'text', BigInt: 'int8', Json: 'jsonb', Boolean: 'bool', MailState: 'mail_state' }[type] ?? type
  );
}

test('schema.prisma matches the migrated database', async () => {
  const database = await createMailDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ line: string }>(
    `select table_name || '.' || column_name || ' '
       || case when udt_name like '\\_%' then substr(udt_name, 2) || '[]' else udt_name end
       || case is_nullable when 'YES' then '?' else '' end as line
     from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'`,
  );
  await client.end();
  await database.drop();
  expect(readSchema(readFileSync(schemaFile, 'utf8')).toSorted()).toEqual(
    rows.map(({ line }) => line).toSorted(),
  );
});
