import type pg from 'pg';

export interface ResendableMail {
  readonly sealedRequest: string;
  /** Addresses in lower case that have the mail. */
  readonly accepted: readonly string[];
}

/** @returns the request of a mail that failed or is unknown, or undefined when there is none, or no longer one. */
export async function findResendable(
  db: pg.Pool,
  orgId: string,
  id: string,
): Promise<ResendableMail | undefined> {
  const { rows } = await db.query<ResendableMail>(
    `select sealed_request as "sealedRequest", array(
       select address from mail_recipients recipients
       where recipients.mail_id = mails.id and recipients.outcome = 'accepted') as accepted
     from mails
     where id = $2 and org_id = $1 and state::text in ('failed', 'unknown') and sealed_request is not null
       and not recipient_erased`,
    [orgId, id],
  );
  return rows[0];
}
