import { insertFactsOfEntries } from '../audit/record.sql.js';
import type { SqlClient } from '../base/sql-client.js';

/**
 * Records what an operator did in the audit of every organisation that it concerns: none sees the operator's shell. Commands
 * that change one organisation record that themselves. Call it in the transaction of the act.
 *
 * @param command.email - of whom it concerns; undefined for the whole platform.
 * @param command.detail - never a secret, nor an address.
 */
export const recordCommand = (
  db: SqlClient,
  command: {
    readonly name: string;
    readonly email?: string;
    readonly detail?: Readonly<Record<string, string>>;
  },
  at: Date,
): Promise<unknown> =>
  db.query(
    `with entry as (
       insert into audit_entries (id, org_id, action, subject_id, reason, detail, created_at)
       select uuid_v7($2::timestamptz), id, 'operator.command_run', id, 'command', $1::jsonb, $2::timestamptz
       from organisations where $3::text is null or id in (select org_id from users where email = $3)
       returning *
     ) ${insertFactsOfEntries('entry')}`,
    [JSON.stringify({ command: command.name, ...command.detail }), at, command.email ?? null],
  );
