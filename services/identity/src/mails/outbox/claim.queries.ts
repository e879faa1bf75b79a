import { Prisma as Sql } from '../../generated/prisma/client.js';
import type { Prisma } from '../../prisma.js';
import type { OutgoingMail } from './outbox.sql.js';

/** The order of the index: alerts about a possible theft, then mails that a person is waiting for at a screen, then other notices, then other alerts. */
const urgency = Sql.raw(
  `(case when reports_theft then 0 when kind in ('login_code', 'password_reset') then 1 when kind <> 'token_alert' then 2 else 3 end)`,
);

/** How urgent a mail must be: other mails leave room for these. */
export type Urgency = 'urgent' | 'any';
const maxUrgency: Readonly<Record<Urgency, number>> = { urgent: 1, any: 3 };

/**
 * Claims due mails, the most urgent and longest due first. Rows that another replica has locked are skipped.
 *
 * No transaction stays open while a mail is handed over: claiming a row moves its next attempt to the end of the lease,
 * when another replica can claim it if this process has died.
 */
export const claimMails = (
  db: Prisma,
  claim: {
    readonly urgency: Urgency;
    readonly now: Date;
    readonly leasedUntil: Date;
    readonly limit: number;
  },
): Promise<OutgoingMail[]> => db.$queryRaw<OutgoingMail[]>`
  update outgoing_mails
  set attempts = attempts + 1, next_attempt_at = ${claim.leasedUntil.toISOString()}::timestamptz
  where id in (
    select id from outgoing_mails
    where ${urgency} <= ${maxUrgency[claim.urgency]} and next_attempt_at <= ${claim.now.toISOString()}::timestamptz
      and expires_at > ${claim.now.toISOString()}::timestamptz
    order by ${urgency}, next_attempt_at limit ${claim.limit} for update skip locked)
  returning id::text, kind, user_id::text as "userId", email, detail, created_at as "createdAt",
            expires_at as "expiresAt", sealed_message as "sealedMessage", request_id as "requestId", attempts,
            merge_key as "mergeKey"`;
