import { readFile } from 'node:fs/promises';
import pg from 'pg';

/** The PostgreSQL types of the scalars in schema.prisma that have no `@db.` attribute. */
const scalarTypes: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'int4',
  BigInt: 'int8',
  Boolean: 'bool',
  Bytes: 'bytea',
  Json: 'jsonb',
};
const nativeTypes: Readonly<Record<string, string>> = {
  Date: 'date',
  Inet: 'inet',
  Json: 'json',
  SmallInt: 'int2',
  Uuid: 'uuid',
  'Timestamptz(3)': 'timestamptz',
  'VarChar(255)': 'varchar',
};

/** The columns as `table column type null|not null`, and the enums as `type label label …`; both sorted. */
export interface SchemaDescription {
  readonly columns: string[];
  readonly enums: string[];
}

const parseBlocks = (source: string, kind: 'model' | 'enum') =>
  [...source.matchAll(new RegExp(`^${kind} (\\w+) \\{([^]*?)^\\}`, 'gm'))].map(
    ([, name = '', body = '']) => ({
      name,
      stored: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
      lines: body
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => /^\w/.test(line)),
    }),
  );

/** Describes what a schema.prisma says. Fields that are no columns, such as relations, are left out. */
export async function describePrismaSchema(file: string): Promise<SchemaDescription> {
  const source = await readFile(file, 'utf8');
  const models = parseBlocks(source, 'model');
  const enums = parseBlocks(source, 'enum');
  const modelNames = new Set(models.map(({ name }) => name));
  const enumTypes = new Map(enums.map(({ name, stored }) => [name, stored]));
  const columns = models.flatMap(({ stored: table, lines }) =>
    lines.flatMap((line) => {
      const [, field = '', type = '', suffix = ''] = /^(\w+)\s+(\w+)(\[\]|\?)?/.exec(line) ?? [];
      if (modelNames.has(type)) return [];
      const native = /@db\.(\w+(?:\(\d+\))?)/.exec(line)?.[1];
      const sqlType = native ? nativeTypes[native] : (enumTypes.get(type) ?? scalarTypes[type]);
      const column = /[^@]@map\("(\w+)"\)/.exec(line)?.[1] ?? field;
      const nullability = suffix === '?' ? 'null' : 'not null';
      return [`${table} ${column} ${suffix === '[]' ? '_' : ''}${sqlType ?? native ?? type} ${nullability}`];
    }),
  );
  return {
    columns: columns.toSorted(),
    enums: enums.map(({ stored, lines }) => [stored, ...lines].join(' ')).toSorted(),
  };
}

const columnsSql = `
  select concat_ws(' ', table_name, column_name, udt_name, case is_nullable when 'YES' then 'null' else 'not null' end) as line
  from information_schema.columns where table_schema = 'public' and table_name not like '\\_%'`;
const enumsSql = `
  select typname || ' ' || string_agg(enumlabel, ' ' order by enumsortorder) as line
  from pg_enum join pg_type on pg_type.oid = enumtypid group by typname`;

/** Describes what a migrated database has. */
export async function describeDatabase(url: string): Promise<SchemaDescription> {
  const client = new pg.Client({ connectionString: url });
  const find = async (sql: string) =>
    (await client.query<{ line: string }>(sql)).rows.map(({ line }) => line).toSorted();
  try {
    await client.connect();
    return { columns: await find(columnsSql), enums: await find(enumsSql) };
  } finally {
    await client.end();
  }
}
