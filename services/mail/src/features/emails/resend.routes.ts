import { getAccount, requireScopes } from '@platform/auth';
import { type App, bearer } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { requireAdminRole } from '../../authority.js';
import type { RequestCipher } from '../journal/request-cipher.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { notResendable } from './errors.js';
import { releaseStoredRequest, claimStoredRequest } from './resend.queries.js';
import type { MailBody } from './schemas.js';
import type { EmailService } from './service.js';
import { getResponseDeadlines, sendResponses, prepareResponse } from './send-response.js';

interface Deps {
  readonly pool: pg.Pool;
  readonly cipher: RequestCipher;
  readonly emails: EmailService;
  readonly configurations: SmtpConfigurations;
  readonly deadlineMs: number;
}

/** Registers the resend route. It requires an administrator's session, or a token with `SEND_MAIL`. */
export function resendRoute(app: App, { pool, cipher, emails, configurations, deadlineMs }: Deps): void {
  app.post(
    '/api/v1/mail/records/:id/resend',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdminRole],
      schema: {
        operationId: 'resendMail',
        tags: ['Mail records'],
        summary: 'Send a failed or unknown mail again, under a new record',
        security: bearer,
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: sendResponses,
      },
    },
    async (request, reply) => {
      const { orgId } = getAccount(request);
      const { id } = request.params;
      const configuration = await configurations.get(orgId, request.id);
      const encrypted = await claimStoredRequest(pool, orgId, id);
      if (encrypted === undefined) throw notResendable();
      const body = cipher.decrypt(encrypted, id) as MailBody | undefined;
      if (!body) throw notResendable();
      const deadlines = getResponseDeadlines(request, reply, deadlineMs);
      try {
        const submission = await emails.send({
          orgId,
          configuration,
          body,
          deadlines,
          canResend: true,
          originalMailId: id,
        });
        return prepareResponse(request, reply, submission);
      } catch (error) {
        // A failed delivery (500) has its own record with the request. After any other error nothing has been sent.
        const status = (error as { statusCode?: number }).statusCode ?? 500;
        if (status !== 500) await releaseStoredRequest(pool, orgId, id, encrypted);
        throw error;
      }
    },
  );
}
