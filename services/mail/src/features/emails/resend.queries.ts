import type pg from 'pg';

/**
 * Claims the stored request of a mail that failed or is unknown, so that of two concurrent resends only one gets it.
 *
 * @returns the encrypted request, or undefined when there is none, or none any more.
 */
export async function claimStoredRequest(
  db: pg.Pool,
  orgId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ request: string }>(
    `with found as (
       select id, sealed_request as request from mails
       where id = $2 and org_id = $1 and state::text in ('failed', 'unknown') and sealed_request is not null
         and not recipient_erased
       for update
     )
     update mails set sealed_request = null, can_resend = false from found where mails.id = found.id returning found.request`,
    [orgId, id],
  );
  return rows[0]?.request;
}

/** Returns a claimed request after a resend that sent nothing, unless a recipient has been erased in the meantime. */
export async function releaseStoredRequest(
  db: pg.Pool,
  orgId: string,
  id: string,
  request: string,
): Promise<void> {
  await db.query(
    `update mails set sealed_request = $3, can_resend = true
     where id = $2 and org_id = $1 and not recipient_erased`,
    [orgId, id, request],
  );
}
