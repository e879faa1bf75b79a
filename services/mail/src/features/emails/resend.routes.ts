import { getAccount, requireAdmin, requireScopes } from '@platform/auth';
import { type App, IdPath, errorResponses } from '@platform/service-kit';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import type { Resend } from './resend.js';
import { keyInUse, notResendable } from './errors.js';
import { getResponseDeadlines, sendResponses, prepareResponse } from './send-response.js';

interface Deps {
  readonly resend: Resend;
  readonly configurations: SmtpConfigurations;
  readonly deadlineMs: number;
}

/** Registers the resend route. It requires an administrator's session, or a token with `SEND_MAIL`. */
export function resendRoute(app: App, { resend, configurations, deadlineMs }: Deps): void {
  app.post(
    '/api/v1/mail/records/:id/resend',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdmin()],
      schema: {
        operationId: 'resendMail',
        tags: ['Mail records'],
        summary: 'Send a failed or unknown mail again, under a new record',
        description:
          'Answers as `sendEmail` does. A mail that cannot be sent again, because it was sent or its content is no longer kept, is 409 `NOT_RESENDABLE`.',
        params: IdPath,
        response: { ...sendResponses, ...errorResponses(409, keyInUse(), notResendable()) },
      },
    },
    async (request, reply) => {
      const { orgId } = getAccount(request);
      const configuration = await configurations.get(orgId, request.id);
      const deadlines = getResponseDeadlines(request, reply, deadlineMs);
      const submission = await resend(request.params.id, { orgId, configuration, deadlines });
      return prepareResponse(reply, submission);
    },
  );
}
