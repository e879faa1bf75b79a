import type pg from 'pg';

interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
  readonly type: 'uuid' | 'text';
  /** What the values are sealed for, where that is not the id: an expression. */
  readonly subject?: string;
}

/** The columns whose values are sealed with `ENCRYPTION_KEYS`. */
export const sealedColumns = {
  'SMTP secrets': { table: 'smtp_configurations', id: 'org_id', column: 'secret_sealed', type: 'uuid' },
  'signing keys': { table: 'signing_keys', id: 'id', column: 'private_sealed', type: 'text' },
  'outgoing mails': { table: 'outgoing_mails', id: 'id', column: 'sealed_message', type: 'uuid' },
  'MCP server secrets': { table: 'mcp_servers', id: 'id', column: 'secret_sealed', type: 'uuid' },
  'own credentials at MCP servers': {
    table: 'mcp_credentials',
    id: 'id',
    column: 'secret_sealed',
    type: 'uuid',
    subject: `server_id || ':' || account_id`,
  },
  'sign-ins at MCP servers': { table: 'mcp_sign_ins', id: 'state_hash', column: 'flow_sealed', type: 'text' },
  'destination secrets': { table: 'fact_destinations', id: 'id', column: 'secret_sealed', type: 'uuid' },
  'client secrets': {
    table: 'identity_providers',
    id: 'org_id',
    column: 'client_secret_sealed',
    type: 'uuid',
  },
  'authenticator secrets': { table: 'totp_factors', id: 'user_id', column: 'secret_sealed', type: 'uuid' },
} as const satisfies Readonly<Record<string, SealedColumn>>;

export interface SealedValue {
  readonly id: string;
  readonly subject: string;
  readonly sealed: string;
}

/**
 * Finds the next sealed values in the order of the primary key.
 *
 * @param after - the last id of the previous page; undefined for the first page.
 */
export async function findSealed(
  db: pg.Pool,
  { table, id, column, type, subject = id }: SealedColumn,
  after: string | undefined,
  limit: number,
): Promise<SealedValue[]> {
  const { rows } = await db.query<SealedValue>(
    `select ${id}::text as id, (${subject})::text as subject, ${column} as sealed from ${table}
     where ${column} is not null and ($1::${type} is null or ${id} > $1::${type})
     order by ${table}.${id} limit $2`,
    [after ?? null, limit],
  );
  return rows;
}

/** @returns false when the value has changed since it was read: the change has sealed it with the first key already. */
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
