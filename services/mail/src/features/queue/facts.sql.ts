import { type FactType, insertFactReportsOf } from '@platform/events/facts';
import type { MailState } from './mail.js';

/** The types of facts that the ends of mails are; null for states in which a mail goes on. */
const endTypes = {
  queued: null,
  sending: null,
  sent: 'mail.sent',
  failed: 'mail.failed',
  unknown: 'mail.unknown',
} as const satisfies Readonly<Record<MailState, FactType | null>>;

const endCases = Object.entries(endTypes)
  .filter(([, type]) => type !== null)
  .map(([state, type]) => `when '${state}' then '${type}'`)
  .join(' ');

/** The columns of a mail that {@link insertMailFacts} reads, for the `returning` of the statement that ends mails. */
export const ENDED_MAIL_COLUMNS = `mails.id, mails.org_id, mails.state, mails.template_type, mails.attempts, mails.problem,
  mails.updated_at, mails.priority, mails.reference, mails.idempotency_key, mails.sender_id,
  cardinality(mails.to_addresses) + cardinality(mails.cc_addresses) as recipient_count`;

/**
 * Returns the insert of the facts that the ends of mails are: the statement that ends mails stores them. They name no recipient.
 * Only the keys that identity gave its own mails are passed on: the key of a caller, which may hold anything, stays here. The
 * mails of callers all have priority 2.
 *
 * @param ended - a relation with the {@link ENDED_MAIL_COLUMNS}.
 */
export const insertMailFacts = (ended: string): string =>
  insertFactReportsOf(`(
    select gen_random_uuid() as id, org_id, case state ${endCases} end as type, jsonb_build_object(
        'mailId', id, 'emailTemplateType', template_type, 'attempts', attempts, 'recipients', recipient_count,
        'problem', problem, 'senderId', sender_id)
        || case when reference is not null then jsonb_build_object('reference', reference)
                when priority < 2 and idempotency_key is not null then jsonb_build_object('reference', idempotency_key)
                else '{}' end as data,
      updated_at as at
    from ${ended}) as fact where type is not null`);
