import { getMember, requireScopes } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { requireAdminRole } from '../../authority.js';
import { bearer } from '../../openapi.js';
import type { LetterSeal } from '../journal/letter-seal.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { notResendable } from './errors.js';
import { returnLetter, takeLetter } from './resend.queries.js';
import type { MailBody } from './schemas.js';
import type { EmailService } from './service.js';
import { getPatience, sendResponses, tell } from './submission.js';

interface Deps {
  readonly pool: pg.Pool;
  readonly seal: LetterSeal;
  readonly emails: EmailService;
  readonly configurations: SmtpConfigurations;
  readonly deadlineMs: number;
}

/** Administrators: a session, or a token with `SEND_MAIL`. */
export function resendRoute(app: App, { pool, seal, emails, configurations, deadlineMs }: Deps): void {
  app.post(
    '/api/v1/mail/records/:id/resend',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdminRole],
      schema: {
        operationId: 'resendMail',
        tags: ['Mail records'],
        summary: 'Send a mail again that failed, or whose outcome is unknown; it gets a record of its own',
        security: bearer,
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: sendResponses,
      },
    },
    async (request, reply) => {
      const { orgId } = getMember(request);
      const { id } = request.params;
      const configuration = await configurations.get(orgId, request.id);
      const sealed = await takeLetter(pool, orgId, id);
      if (sealed === undefined) throw notResendable();
      const body = seal.open(sealed, id) as MailBody | undefined;
      if (!body) throw notResendable();
      const patience = getPatience(request, reply, deadlineMs);
      try {
        const submission = await emails.send({
          orgId,
          configuration,
          body,
          patience,
          canResend: true,
          getResend: id,
        });
        return tell(request, reply, submission);
      } catch (error) {
        // A failed delivery has a record of its own, with the letter; before that nothing was begun.
        const status = (error as { statusCode?: number }).statusCode ?? 500;
        if (status !== 500) await returnLetter(pool, orgId, id, sealed);
        throw error;
      }
    },
  );
}
