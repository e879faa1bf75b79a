import { type FactType, insertFactReportsOf } from '@platform/events/facts';

/** The mails that a suppression may be about: a bounce comes within days. */
const MAILS_WITHIN = '7 days';
const MAX_MAILS = 20;

/**
 * Returns the insert of the facts that new suppressions are. They name the newest mails of callers to the address, and nobody but
 * their senders: who reports a bounce often does not know the mail.
 *
 * @param added - a relation with columns of `suppressions`.
 */
export const insertSuppressionFacts = (added: string): string =>
  insertFactReportsOf(`(
    select gen_random_uuid() as id, org_id, '${'mail.suppressed' satisfies FactType}' as type,
      jsonb_build_object('suppressionId', id, 'reason', reason, 'status', status, 'mails', array(
        select jsonb_build_object('mailId', mails.id, 'senderId', mails.sender_id) from mail_recipients recipients
          join mails on mails.id = recipients.mail_id
        where recipients.org_id = added.org_id and recipients.address = added.address and mails.sender_id is not null
          and mails.created_at > added.created_at - interval '${MAILS_WITHIN}'
        order by recipients.mail_id desc limit ${MAX_MAILS})) as data, created_at as at
    from ${added} as added) as fact`);
