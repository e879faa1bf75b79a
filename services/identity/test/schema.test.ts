import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createIdentityDatabase } from './identity.js';

/** The PostgreSQL types of the scalars in schema.prisma that have no `@db.` attribute. */
const typeOfScalar: Record<string, string> = {
  String: 'text',
  Int: 'int4',
  BigInt: 'int8',
  Boolean: 'bool',
  Json: 'jsonb',
};
const typeOfNative: Record<string, string> = {
  Date: 'date',
  Inet: 'inet',
  SmallInt: 'int2',
  Uuid: 'uuid',
  'Timestamptz(3)': 'timestamptz',
  'VarChar(255)': 'varchar',
};

const source = readFileSync(join(__dirname, '../prisma/schema.prisma'), 'utf8');
const blocks = (kind: 'model' | 'enum') =>
  [...source.matchAll(new RegExp(`^${kind} (\\w+) \\{([^]*?)^\\}`, 'gm'))].map(([, name = '', body = '']) => ({
    name,
    table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
    lines: body.split('\n').map((line) => line.trim()).filter((line) => /^\w/.test(line)),
  })); // prettier-ignore

const enums = new Map(blocks('enum').map(({ name, table }) => [name, table]));

/** Returns `table column type null|not null` for every field that is a column. */
function columnsOfSchema(): string[] {
  return blocks('model').flatMap(({ table, lines }) =>
    lines.flatMap((line) => {
      const [, field = '', type = '', suffix = ''] = /^(\w+)\s+(\w+)(\[\]|\?)?/.exec(line) ?? [];
      const native = /@db\.(\w+(?:\(\d+\))?)/.exec(line)?.[1];
      const stored = native ? typeOfNative[native] : (enums.get(type) ?? typeOfScalar[type]);
      if (stored === undefined) return [];
      const column = /[^@]@map\("(\w+)"\)/.exec(line)?.[1] ?? field;
      return `${table} ${column} ${suffix === '[]' ? '_' : ''}${stored} ${suffix === '?' ? 'null' : 'not null'}`;
    }),
  );
}

test('schema.prisma has the tables, columns, types and nullability of the migrated database', async () => {
  const database = await createIdentityDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    const { rows: columns } = await client.query<{ line: string }>(
      `select concat_ws(' ', table_name, column_name, udt_name, case is_nullable when 'YES' then 'null' else 'not null' end) as line
       from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'`,
    );
    expect(columnsOfSchema().toSorted()).toEqual(columns.map(({ line }) => line).toSorted());
    const { rows: labels } = await client.query<{ line: string }>(
      `select typname || ' ' || string_agg(enumlabel, ' ' order by enumsortorder) as line
       from pg_enum join pg_type on pg_type.oid = enumtypid group by typname`,
    );
    const inSchema = blocks('enum').map(({ table, lines }) => [table, ...lines].join(' '));
    expect(inSchema.toSorted()).toEqual(labels.map(({ line }) => line).toSorted());
  } finally {
    await client.end();
    await database.drop();
  }
});
