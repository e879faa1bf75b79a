import { readEmailAddress } from '@platform/service-kit';
import type pg from 'pg';
import type { MailCipher } from '../../mail-cipher.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { notResendable } from './errors.js';
import { findResendable } from './resend.queries.js';
import type { EmailContent } from './schemas.js';
import type { Submission } from './submission.js';
import type { ResponseDeadlines } from './send-request.js';
import type { EmailService } from './service.js';
import type { StoredRequest } from './stored-request.js';

export interface ResendRequest {
  readonly orgId: string;
  readonly mailId: string;
  readonly configuration: SmtpConfiguration;
  readonly deadlines: ResponseDeadlines;
}

/** Sends a failed or unknown mail again. @throws AppError 409 when it can't be resent, or the same errors as `EmailService.send`. */
export type Resend = (request: ResendRequest) => Promise<Submission>;

/** Returns the content without the recipients that have the mail, or undefined when nobody is left. */
function leaveOut(content: EmailContent, accepted: ReadonlySet<string>): EmailContent | undefined {
  const isLeft = (text: string): boolean => !accepted.has((readEmailAddress(text) ?? text).toLowerCase());
  const [to, cc] = [content.sendEmailTo.filter(isLeft), (content.sendCcTo ?? []).filter(isLeft)];
  if (to.length > 0) return { ...content, sendEmailTo: to, sendCcTo: cc };
  return cc.length > 0 ? { ...content, sendEmailTo: cc, sendCcTo: [] } : undefined;
}

export function createResend(deps: {
  readonly pool: pg.Pool;
  readonly cipher: MailCipher;
  readonly emails: Pick<EmailService, 'send'>;
}): Resend {
  const { pool, cipher, emails } = deps;
  return async ({ orgId, mailId, configuration, deadlines }) => {
    const found = await findResendable(pool, orgId, mailId);
    const request = found && (cipher.decrypt(found.sealedRequest, mailId) as StoredRequest | undefined);
    const body = request && leaveOut(request.body, new Set(found.accepted));
    if (!body) throw notResendable();
    return emails.send({
      orgId,
      configuration,
      body,
      deadlines,
      isFromService: false,
      originalMailId: mailId,
    });
  };
}
