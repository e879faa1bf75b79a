import { explainProblem, type SmtpProblem } from '@platform/events';
import type { ReportedFact } from '@platform/events';
import { validate } from 'uuid';
import type { SqlClient } from '../../base/sql-client.js';

type MailOutcome = Extract<ReportedFact, { type: 'mail.sent' | 'mail.failed' | 'mail.unknown' }>;

const isMailOutcome = (fact: ReportedFact): fact is MailOutcome =>
  fact.type === 'mail.sent' || fact.type === 'mail.failed' || fact.type === 'mail.unknown';

const UNKNOWN_OUTCOME = 'The SMTP server did not say whether it accepted the invitation: it may have arrived';

interface InvitationOutcome {
  readonly orgId: string;
  /** The id of the mail in the outbox. */
  readonly mailId: string;
  readonly type: MailOutcome['type'];
  readonly problem: MailOutcome['data']['problem'];
}

function toReason({ type, problem }: InvitationOutcome): string | null {
  if (type === 'mail.sent') return null;
  if (type === 'mail.unknown') return UNKNOWN_OUTCOME;
  return explainProblem((problem ?? { code: 'EUNKNOWN' }) as unknown as SmtpProblem);
}

/**
 * Stores with the invited member what became of the mail that invited them. Only the newest mail of an invitation counts. An
 * outcome that is reported again changes nothing: when something followed it, another mail is the newest, or none.
 */
export const recordInvitationOutcome = (db: SqlClient, outcome: InvitationOutcome): Promise<unknown> =>
  db.query(
    `update users set undeliverable_reason = $3, is_delivery_unknown = $4::boolean,
       invitation_mail_id = case when $5::boolean then null else invitation_mail_id end
     where org_id = $1::uuid and invitation_mail_id = $2::uuid`,
    [
      outcome.orgId,
      outcome.mailId,
      toReason(outcome),
      outcome.type === 'mail.unknown',
      outcome.type === 'mail.sent',
    ],
  );

/** Stores what the mail service has reported of invitations. */
export async function recordInvitationOutcomes(db: SqlClient, facts: readonly ReportedFact[]): Promise<void> {
  for (const { orgId, type, data } of facts.filter(isMailOutcome)) {
    const { emailTemplateType, reference = '', problem } = data;
    if (emailTemplateType === 'appuserInvite' && validate(reference))
      await recordInvitationOutcome(db, { orgId, mailId: reference, type, problem });
  }
}
