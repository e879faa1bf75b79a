import type pg from 'pg';

/** What stands in place of an erased address, in mails that had other recipients too. */
const ERASED = 'erased@invalid';

const BATCH = 500;

/** @param column - an array of addresses of `mails`. */
const erasedFrom = (column: string): string =>
  `${column} = array(
        select case when lower(one) = any(found.addresses) then '${ERASED}' else one end from unnest(${column}) as one)`;

/** Whether the mail has recipients besides those that are erased. */
const hasOthers = `exists (
      select from unnest(to_addresses || cc_addresses) as other
      where lower(other) <> all(found.addresses) and other <> '${ERASED}')`;

/**
 * A mail without other recipients goes; of the others, the addresses go.
 *
 * @param found - a query of mails that have ended (`mail_id`), each with the addresses to erase.
 */
const eraseSql = (found: string): string => `
  with found (mail_id, addresses) as (${found}), emptied as (
    delete from mails using found where mails.id = found.mail_id and not ${hasOthers}
    returning mails.id
  ), kept as (
    update mails set
      letter_sealed = null,
      can_resend = false,
      recipient_erased = true,
      addresses_to_erase = '{}',
      ${erasedFrom('to_addresses')},
      ${erasedFrom('cc_addresses')},
      ${erasedFrom('refused_addresses')}
    from found where mails.id = found.mail_id and ${hasOthers}
    returning mails.id
  ), unlisted as (
    delete from mail_recipients recipients using found
    where recipients.mail_id = found.mail_id and recipients.address = any(found.addresses)
      and found.mail_id in (select id from kept)
  )
  select (select count(*) from found)::int as found, (select count(*) from emptied)::int as deleted,
    (select count(*) from kept)::int as changed`;

const eraseRecipientSql = eraseSql(`
    select mails.id, addresses_to_erase || lower($2) from mail_recipients recipients
    cross join lateral (
      select id, addresses_to_erase from mails
      where id = recipients.mail_id and org_id = $1 and state <> 'pending' limit 1
    ) mails
    where recipients.org_id = $1 and recipients.address = lower($2)
    order by mails.id limit ${BATCH}`);

const eraseMarkedSql = eraseSql(`
    select id, addresses_to_erase from mails
    where addresses_to_erase <> '{}' and state <> 'pending' limit ${BATCH}`);

/** What becomes of mails under way has to be written down: they are erased after that. */
const markPendingSql = `
  update mails set addresses_to_erase = addresses_to_erase || lower($2), recipient_erased = true
  where id in (
      select mails.id from mail_recipients recipients
      cross join lateral (
        select id from mails
        where id = recipients.mail_id and org_id = $1 and state = 'pending' and lower($2) <> all(addresses_to_erase) limit 1
      ) mails
      where recipients.org_id = $1 and recipients.address = lower($2)
      limit ${BATCH})
    and state = 'pending' and lower($2) <> all(addresses_to_erase)`;

export interface Erased {
  /** Mails to the recipient alone. */
  readonly deleted: number;
  /** Mails to others as well, which keep everything but the address. */
  readonly changed: number;
  /** Mails under way: they are erased as soon as they end. */
  readonly pending: number;
}

interface Batch {
  readonly found: number;
  readonly deleted: number;
  readonly changed: number;
}

/**
 * Ends when nothing is found any more: a mail that is sent again is written while the one that it repeats is locked, so
 * whoever deletes that one looks once more.
 */
export async function eraseRecipient(db: pg.Pool, orgId: string, address: string): Promise<Erased> {
  let [deleted, changed, pending] = [0, 0, 0];
  for (;;) {
    const marked = await db.query(markPendingSql, [orgId, address]);
    const { rows } = await db.query<Batch>(eraseRecipientSql, [orgId, address]);
    const [batch] = rows;
    pending += marked.rowCount ?? 0;
    deleted += batch?.deleted ?? 0;
    changed += batch?.changed ?? 0;
    if (!batch?.found && !marked.rowCount) return { deleted, changed, pending };
  }
}

/** Of the mails that were under way when a recipient was to be erased, and have ended. @returns how many. */
export async function eraseMarked(db: pg.Pool): Promise<number> {
  const { rows } = await db.query<Batch>(eraseMarkedSql);
  return (rows[0]?.deleted ?? 0) + (rows[0]?.changed ?? 0);
}
