import type pg from 'pg';
import type { RequestCipher } from '../queue/request-cipher.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { notResendable } from './errors.js';
import { claimStoredRequest, releaseStoredRequest } from './resend.queries.js';
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

export function createResend(deps: {
  readonly pool: pg.Pool;
  readonly cipher: RequestCipher;
  readonly emails: Pick<EmailService, 'send'>;
}): Resend {
  const { pool, cipher, emails } = deps;
  return async ({ orgId, mailId, configuration, deadlines }) => {
    const encrypted = await claimStoredRequest(pool, orgId, mailId);
    if (encrypted === undefined) throw notResendable();
    const request = cipher.decrypt(encrypted, mailId) as StoredRequest | undefined;
    if (!request) throw notResendable();
    try {
      return await emails.send({
        orgId,
        configuration,
        body: request.body,
        deadlines,
        isFromService: false,
        originalMailId: mailId,
      });
    } catch (error) {
      // A failed delivery (500) has its own record with the request. After any other error nothing has been sent.
      const status = (error as { statusCode?: number }).statusCode ?? 500;
      if (status !== 500) await releaseStoredRequest(pool, orgId, mailId, encrypted);
      throw error;
    }
  };
}
