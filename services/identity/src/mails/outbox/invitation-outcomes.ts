import { explainProblem, type SmtpProblem } from '@platform/auth';
import type { ReportedFact } from '@platform/events';
import { validate } from 'uuid';
import type { Prisma } from '../../resources.js';

type MailOutcome = Extract<ReportedFact, { type: 'mail.sent' | 'mail.failed' | 'mail.unknown' }>;

const isMailOutcome = (fact: ReportedFact): fact is MailOutcome =>
  fact.type === 'mail.sent' || fact.type === 'mail.failed' || fact.type === 'mail.unknown';

const UNKNOWN_OUTCOME = 'The SMTP server did not say whether it accepted the invitation: it may have arrived';

function toChange({ type, data: { problem } }: MailOutcome) {
  if (type === 'mail.sent')
    return { invitationMailId: null, undeliverableReason: null, isDeliveryUnknown: false };
  if (type === 'mail.unknown') return { undeliverableReason: UNKNOWN_OUTCOME, isDeliveryUnknown: true };
  const reason = explainProblem((problem ?? { code: 'EUNKNOWN' }) as unknown as SmtpProblem);
  return { undeliverableReason: reason, isDeliveryUnknown: false };
}

/**
 * Stores with the invited members what became of the mails that invited them. Only the newest mail of an invitation counts. An
 * outcome that is reported again changes nothing: when something followed it, another mail is the newest, or none.
 */
export async function recordInvitationOutcomes(db: Prisma, facts: readonly ReportedFact[]): Promise<void> {
  for (const fact of facts.filter(isMailOutcome)) {
    const { orgId, data } = fact;
    if (data.emailTemplateType === 'appuserInvite' && validate(data.reference))
      await db.user.updateMany({
        where: { orgId, invitationMailId: data.reference as string },
        data: toChange(fact),
      });
  }
}
