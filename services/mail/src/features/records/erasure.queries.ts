import type pg from 'pg';

/** What stands in place of an erased address, in mails that had other recipients too. */
const ERASED = 'erased@invalid';

const BATCH = 500;

/*
 * A mail to this recipient alone goes; of others, the address goes. Mails under way stay: what becomes of them has to be
 * written down.
 */
const eraseSql = `
  with found as (
    select recipients.mail_id from mail_recipients recipients
    cross join lateral (
      select from mails where id = recipients.mail_id and org_id = $1 and state <> 'pending' limit 1
    ) settled
    where recipients.org_id = $1 and recipients.address = $2
    order by recipients.mail_id limit ${BATCH}
  ), emptied as (
    delete from mails where id in (select mail_id from found)
      and not exists (select from unnest(to_addresses || cc_addresses) as other where lower(other) <> $2)
    returning id
  ), kept as (
    update mails set
      letter_sealed = null,
      can_resend = false,
      to_addresses = array(select case lower(one) when $2 then '${ERASED}' else one end from unnest(to_addresses) as one),
      cc_addresses = array(select case lower(one) when $2 then '${ERASED}' else one end from unnest(cc_addresses) as one),
      refused_addresses = array(
        select case lower(one) when $2 then '${ERASED}' else one end from unnest(refused_addresses) as one)
    where id in (select mail_id from found)
      and exists (select from unnest(to_addresses || cc_addresses) as other where lower(other) <> $2)
    returning id
  ), unlisted as (
    delete from mail_recipients where org_id = $1 and address = $2 and mail_id in (select id from kept)
  )
  select (select count(*) from emptied)::int as deleted, (select count(*) from kept)::int as changed`;

export interface Erased {
  /** Mails to the recipient alone. */
  readonly deleted: number;
  /** Mails to others as well, which keep everything but the address. */
  readonly changed: number;
}

/** @param address - in lower case. */
export async function eraseRecipient(db: pg.Pool, orgId: string, address: string): Promise<Erased> {
  let [deleted, changed] = [0, 0];
  for (;;) {
    const { rows } = await db.query<Erased>(eraseSql, [orgId, address]);
    const [batch] = rows;
    if (!batch || batch.deleted + batch.changed === 0) return { deleted, changed };
    deleted += batch.deleted;
    changed += batch.changed;
  }
}
