import type pg from 'pg';

/** Replaces an erased address in mails that have other recipients. */
const ERASED = 'erased@invalid';

const BATCH = 500;

/** @param column - a column of `mails` that holds an array of addresses. */
const erasedFrom = (column: string): string =>
  `${column} = array(
        select case when lower(one) = any(found.addresses) then '${ERASED}' else one end from unnest(${column}) as one)`;

/** Is true when the mail has recipients besides the ones to erase. */
const hasOthers = `exists (
      select from unnest(to_addresses || cc_addresses) as other
      where lower(other) <> all(found.addresses) and other <> '${ERASED}')`;

/** Is false for a mail that has been queued again since it was found. */
const hasOutcome = `mails.state not in ('queued', 'sending')`;

/**
 * Deletes mails without other recipients, and replaces the addresses in the rest.
 *
 * @param found - a query that returns the id of each mail whose outcome is stored, with the addresses to erase from it.
 * @param marked - a statement that marks the addresses in mails without an outcome, in the same snapshot.
 */
const eraseSql = (found: string, marked: string): string => `
  with found (mail_id, addresses) as (${found}), marked as (${marked}
  ), emptied as (
    delete from mails using found where mails.id = found.mail_id and ${hasOutcome} and not ${hasOthers}
    returning mails.id
  ), kept as (
    update mails set
      sealed_request = null,
      sealed_content = null,
      can_resend = false,
      recipient_erased = true,
      addresses_to_erase = '{}',
      ${erasedFrom('to_addresses')},
      ${erasedFrom('cc_addresses')}
    from found where mails.id = found.mail_id and ${hasOutcome} and ${hasOthers}
    returning mails.id
  ), unlisted as (
    delete from mail_recipients recipients using found
    where recipients.mail_id = found.mail_id and recipients.address = any(found.addresses)
      and found.mail_id in (select id from kept)
  ), emptied_attachments as (
    delete from mail_attachments where mail_id in (select id from kept)
  )
  select (select count(*) from found)::int as found, (select count(*) from marked)::int as marked, (select count(*) from emptied)::int as deleted,
    (select count(*) from kept)::int as changed`;

/**
 * Marks mails that have no outcome yet, which has to be stored first. A queued mail is due at once, and is not sent to the
 * marked recipients any more.
 */
const markPending = `
    update mails set addresses_to_erase = addresses_to_erase || lower($2), recipient_erased = true,
      next_attempt_at = least(next_attempt_at, now())
    where id in (
        select mails.id from mail_recipients recipients
        cross join lateral (
          select id from mails
          where id = recipients.mail_id and org_id = $1 and state in ('queued', 'sending') and lower($2) <> all(addresses_to_erase) limit 1
        ) mails
        where recipients.org_id = $1 and recipients.address = lower($2)
        limit ${BATCH})
      and state in ('queued', 'sending') and lower($2) <> all(addresses_to_erase)
    returning id`;

const eraseRecipientSql = eraseSql(
  `
    select mails.id, addresses_to_erase || lower($2) from mail_recipients recipients
    cross join lateral (
      select id, addresses_to_erase from mails
      where id = recipients.mail_id and org_id = $1 and state not in ('queued', 'sending') limit 1
    ) mails
    where recipients.org_id = $1 and recipients.address = lower($2)
    order by mails.id limit ${BATCH}`,
  markPending,
);

const eraseMarkedSql = eraseSql(
  `
    select id, addresses_to_erase from mails
    where addresses_to_erase <> '{}' and state not in ('queued', 'sending') limit ${BATCH}`,
  'select where false',
);

export interface Erased {
  /** The number of mails that were sent only to the recipient, and are deleted. */
  readonly deleted: number;
  /** The number of mails with other recipients, which lost only the address. */
  readonly changed: number;
  /** The number of mails in progress, from which the recipient is erased when their outcome is stored. */
  readonly pending: number;
}

interface Batch {
  readonly found: number;
  readonly marked: number;
  readonly deleted: number;
  readonly changed: number;
}

/**
 * Repeats until nothing is found any more. A mail can go from one state to the other meanwhile, either way: the outcome of a
 * mail, or a late one that has it queued again, and a resend, which is inserted while the original mail is locked. Each pass
 * looks at both in one snapshot, so none is in neither.
 */
export async function eraseRecipient(db: pg.Pool, orgId: string, address: string): Promise<Erased> {
  let [deleted, changed, pending] = [0, 0, 0];
  for (;;) {
    const { rows } = await db.query<Batch>(eraseRecipientSql, [orgId, address]);
    const [batch] = rows;
    pending += batch?.marked ?? 0;
    deleted += batch?.deleted ?? 0;
    changed += batch?.changed ?? 0;
    if (batch?.found || batch?.marked) continue;
    await db.query('delete from suppressions where org_id = $1 and address = lower($2)', [orgId, address]);
    return { deleted, changed, pending };
  }
}

/** Erases the marked addresses from mails that were in progress during the erasure and now have an outcome. */
export async function eraseMarked(db: pg.Pool): Promise<void> {
  await db.query(eraseMarkedSql);
}
