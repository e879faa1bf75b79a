import { readEmailAddress, type SecretBox } from '@platform/service-kit';
import type pg from 'pg';
import { findResendable } from '../queue/queue.sql.js';
import { notResendable } from './errors.js';
import type { EmailContent } from './schemas.js';
import type { Submission } from './submission.js';
import type { SendRequest } from './send-request.js';
import type { EmailService } from './service.js';
import { openRequest } from './stored-request.js';

/** Returns the content without the recipients that have the mail, or undefined when nobody is left. */
function leaveOut(content: EmailContent, accepted: ReadonlySet<string>): EmailContent | undefined {
  const isLeft = (text: string): boolean => !accepted.has((readEmailAddress(text) ?? text).toLowerCase());
  const [to, cc] = [content.sendEmailTo.filter(isLeft), (content.sendCcTo ?? []).filter(isLeft)];
  if (to.length > 0) return { ...content, sendEmailTo: to, sendCcTo: cc };
  return cc.length > 0 ? { ...content, sendEmailTo: cc, sendCcTo: [] } : undefined;
}

/** Creates the function that sends a failed or unknown mail again. */
export const createResend =
  ({
    pool,
    box,
    emails,
  }: {
    readonly pool: pg.Pool;
    readonly box: SecretBox;
    readonly emails: Pick<EmailService, 'send'>;
  }) =>
  /** @throws AppError 409 when it can't be resent, or the same errors as `EmailService.send`. */
  async (
    mailId: string,
    request: Pick<SendRequest, 'orgId' | 'configuration' | 'deadlines'>,
  ): Promise<Submission> => {
    const found = await findResendable(pool, request.orgId, mailId);
    const stored = found && openRequest(box, mailId, found.sealedRequest);
    const body = stored && leaveOut(stored.body, new Set(found.accepted));
    if (!body) throw notResendable();
    return emails.send({ ...request, body, isFromService: false, originalMailId: mailId });
  };

export type Resend = ReturnType<typeof createResend>;
