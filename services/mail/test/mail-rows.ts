import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

export interface MailRow {
  readonly id?: string;
  readonly orgId?: string;
  readonly state?: string;
  readonly subject?: string;
  readonly to?: readonly string[];
  readonly templateType?: string;
  readonly createdAt?: Date;
  /** Further columns. */
  readonly columns?: Readonly<Record<string, unknown>>;
}

/** Inserts a mail as it could be stored. @returns its id. */
export async function insertMailRow(db: pg.Pool, row: MailRow): Promise<string> {
  const { id = uuidv7(), orgId = uuidv7(), state = 'sent', createdAt = new Date() } = row;
  const columns: Record<string, unknown> = {
    id,
    org_id: orgId,
    state,
    priority: 2,
    caller_waits: false,
    lease_until: state === 'sending' ? new Date(Date.now() + 3_600_000) : null,
    next_attempt_at: createdAt,
    expires_at: new Date(createdAt.getTime() + 24 * 3_600_000),
    subject: row.subject ?? 'subject',
    from_address: 'a@b.example',
    to_addresses: row.to ?? [],
    cc_addresses: [],
    template_type: row.templateType ?? 'accountCreation',
    created_at: createdAt,
    updated_at: createdAt,
    ...row.columns,
  };
  const names = Object.keys(columns);
  await db.query(
    `insert into mails (${names.join(', ')}) values (${names.map((_name, index) => `$${index + 1}`).join(', ')})`,
    Object.values(columns),
  );
  return id;
}
