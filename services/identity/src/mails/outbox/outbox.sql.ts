import { randomUUID } from 'node:crypto';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { insertFacts } from '../../audit/facts.sql.js';
import type { SqlClient } from '../../base/sql-client.js';
import { recordInvitationOutcome } from './invitation-outcomes.js';
import { type MailKind, templateTypes } from './mail-kind.js';

export interface NewMail {
  readonly id: string;
  readonly kind: MailKind;
  /** Either this or `email` is set: an account, or an address as it was entered. */
  readonly userId: string | null;
  readonly email: string | null;
  readonly detail: Readonly<Record<string, string>>;
  /** The id of the request that caused the mail; null when no request did, or for mails of older releases. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly nextAttemptAt: Date;
  readonly reportsTheft: boolean;
  /** Null for a mail that is sent by itself. */
  readonly mergeKey: string | null;
  /** The complete message; null for a mail that is composed when it is sent. */
  readonly sealedMessage: string | null;
}

/* One parameter, whatever the number of mails. */
const insert = `
  insert into outgoing_mails (id, kind, user_id, email, detail, request_id, created_at, expires_at, next_attempt_at,
    reports_theft, merge_key, sealed_message)
  select * from jsonb_to_recordset($1::jsonb) as mail (id uuid, kind text, "userId" uuid, email text, detail jsonb,
    "requestId" text, "createdAt" timestamptz, "expiresAt" timestamptz, "nextAttemptAt" timestamptz,
    "reportsTheft" boolean, "mergeKey" text, "sealedMessage" text)`;

/** Inserts mails, in the transaction of what causes them. */
export const insertMails = (db: SqlClient, mails: readonly NewMail[]): Promise<unknown> =>
  db.query(insert, [JSON.stringify(mails)]);

type UnsentMail = Pick<OutgoingMail, 'id' | 'kind' | 'userId' | 'email' | 'attempts'>;

/** Records that mails were never stored by the mail service, which therefore reports nothing of them. */
export async function recordUnsent(
  db: SqlClient,
  mails: readonly UnsentMail[],
  problem: { readonly code: string },
  at: Date,
): Promise<void> {
  const { rows } = await db.query<{ readonly id: string; readonly orgId: string }>(
    `select mail.id::text, users.org_id::text as "orgId"
     from jsonb_to_recordset($1::jsonb) as mail (id uuid, "userId" uuid, email text)
     join users on users.id = mail."userId" or (users.email = mail.email and users.removed_at is null)`,
    [JSON.stringify(mails)],
  );
  // Nobody has the address of the others.
  const orgIds = new Map(rows.map(({ id, orgId }) => [id, orgId]));
  const facts = mails.flatMap(({ id: mailId, kind, attempts }) => {
    const orgId = orgIds.get(mailId);
    if (orgId === undefined) return [];
    const data = { mailId, emailTemplateType: templateTypes[kind], recipients: 1, attempts, problem };
    return [{ id: randomUUID(), orgId, type: 'mail.failed', at: at.toISOString(), data } as const];
  });
  if (facts.length > 0) await insertFacts(db, facts);
  for (const { orgId, type, data } of facts)
    await recordInvitationOutcome(db, { orgId, mailId: data.mailId, type, problem });
}

/** Deletes a batch of mails whose code, link or notice has expired. @returns how many. */
export const expireMails = (pool: pg.Pool, now: Date, limit: number): Promise<number> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query<UnsentMail>(
      `delete from outgoing_mails where id in (
         select id from outgoing_mails where expires_at <= $1 order by expires_at limit $2 for update skip locked)
       returning id, kind, user_id as "userId", email, attempts`,
      [now, limit],
    );
    await recordUnsent(client, rows, { code: 'EEXPIRED' }, now);
    return rows.length;
  });

export interface OutgoingMail extends Omit<NewMail, 'nextAttemptAt' | 'reportsTheft'> {
  readonly attempts: number;
}
