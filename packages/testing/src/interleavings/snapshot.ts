import pg from 'pg';

const quote = (name: string) => name.split('.').map(pg.escapeIdentifier).join('.');

/** Keeps the rows of all tables as they are now. @returns a function that brings them back. */
export async function takeSnapshot(db: pg.Pool): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ name: string; columns: string[] }>(
    `select c.table_schema || '.' || c.table_name as name, array_agg(quote_ident(c.column_name)) as columns
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where t.table_type = 'BASE TABLE' and c.table_schema in ('public', 'outbox') and c.is_generated = 'NEVER'
     group by 1`,
  );
  const copies = rows.map(({ name, columns }) => ({
    table: quote(name),
    copy: quote(`snapshot.${name.replace('.', '_')}`),
    columns: columns.join(', '),
  }));
  await db.query(
    [
      'create schema snapshot',
      ...copies.map(({ table, copy }) => `create table ${copy} as table ${table}`),
    ].join(';'),
  );
  const tables = copies.map(({ table }) => table).join(', ');
  const restore = [
    // What is written in the background comes before all of it, or after.
    `lock table ${tables} in exclusive mode`,
    // Neither triggers nor references object.
    `set local session_replication_role = replica`,
    ...copies.map(
      ({ table, copy, columns }) =>
        `delete from ${table}; insert into ${table} (${columns}) overriding system value select ${columns} from ${copy}`,
    ),
  ].join(';');
  return async () => {
    await db.query(restore);
  };
}
