import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase } from '@platform/testing';
import pg from 'pg';

const toPath = (file: string) => fileURLToPath(new URL(`../../prisma/${file}`, `file://${__filename}`));
const migrationsDir = toPath('migrations');

/** What a type of schema.prisma is in PostgreSQL, where no `@db.` says otherwise. */
const typeOfScalar: Record<string, string> = {
  String: 'text', Int: 'int4', BigInt: 'int8', Boolean: 'bool', Json: 'jsonb',
}; // prettier-ignore
const typeOfNative: Record<string, string> = {
  Uuid: 'uuid',
  SmallInt: 'int2',
  'Timestamptz(3)': 'timestamptz',
};

const source = readFileSync(toPath('schema.prisma'), 'utf8');
const blocks = (kind: 'model' | 'enum') =>
  [...source.matchAll(new RegExp(`^${kind} (\\w+) \\{([^]*?)^\\}`, 'gm'))].map(([, name = '', body = '']) => ({
    name,
    stored: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
    lines: body.split('\n').map((line) => line.trim()).filter((line) => /^\w/.test(line)),
  })); // prettier-ignore
const enums = new Map(blocks('enum').map(({ name, stored }) => [name, stored]));

/** `table column type null|not null`. */
const columnsOfSchema = () =>
  blocks('model').flatMap(({ stored, lines }) =>
    lines.map((line) => {
      const [, field = '', type = '', isList, isOptional] = /^(\w+)\s+(\w+)(\[\])?(\?)?/.exec(line) ?? [];
      const native = /@db\.(\w+(?:\(\d+\))?)/.exec(line)?.[1];
      const sqlType = native ? typeOfNative[native] : (enums.get(type) ?? typeOfScalar[type]);
      const column = /[^@]@map\("(\w+)"\)/.exec(line)?.[1] ?? field;
      return `${stored} ${column} ${isList ? '_' : ''}${sqlType ?? type} ${isOptional ? 'null' : 'not null'}`;
    }),
  );

test('schema.prisma has the tables, columns, types and nullability of the migrated database', async () => {
  const database = await createTestDatabase({
    template: 'crawl-rows',
    migrationsDir,
    migrate: (url) => migrate(url, migrationsDir).then(() => undefined),
  });
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
    const inSchema = blocks('enum').map(({ stored, lines }) => [stored, ...lines].join(' '));
    expect(inSchema.toSorted()).toEqual(labels.map(({ line }) => line).toSorted());
  } finally {
    await client.end();
    await database.drop();
  }
});
