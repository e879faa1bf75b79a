import type pg from 'pg';

/** Columns with values that `ENCRYPTION_KEYS` seal. */
export const sealedColumns = {
  'SMTP passwords': { table: 'smtp_configurations', id: 'org_id', column: 'password_sealed', type: 'uuid' },
  'signing keys': { table: 'signing_keys', id: 'id', column: 'private_sealed', type: 'text' },
  'letters on their way': { table: 'outgoing_mails', id: 'id', column: 'letter_sealed', type: 'uuid' },
} as const;

type SealedColumn = (typeof sealedColumns)[keyof typeof sealedColumns];

export interface SealedValue {
  readonly id: string;
  readonly sealed: string;
}

/**
 * The next values, in the order of their primary key.
 *
 * @param after - the last id of the page before; undefined for the first page.
 */
export async function findSealed(
  db: pg.Pool,
  { table, id, column, type }: SealedColumn,
  after: string | undefined,
  limit: number,
): Promise<SealedValue[]> {
  const { rows } = await db.query<SealedValue>(
    `select ${id}::text as id, ${column} as sealed from ${table}
     where ${column} is not null and ($1::${type} is null or ${id} > $1::${type})
     order by ${table}.${id} limit $2`,
    [after ?? null, limit],
  );
  return rows;
}

/** @returns false when the value has changed meanwhile: then it was sealed anew by whoever changed it. */
export async function replaceSealed(
  db: pg.Pool,
  { table, id, column, type }: SealedColumn,
  { id: rowId, sealed }: SealedValue,
  resealed: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${table} set ${column} = $1 where ${id} = $2::${type} and ${column} = $3`,
    [resealed, rowId, sealed],
  );
  return rowCount === 1;
}
