import { getAccount, requireAdmin, requireSession } from '@platform/auth';
import type { App, CountRequest } from '@platform/service-kit';
import { getResponseDeadlines, prepareResponse, sendResponses } from '../emails/send-response.js';
import type { EmailService } from '../emails/service.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';

interface Deps {
  readonly emails: Pick<EmailService, 'send'>;
  readonly configurations: SmtpConfigurations;
  readonly countTest: CountRequest;
  readonly deadlineMs: number;
}

/** Registers the test mail (MAIL-44), which goes to nobody but the administrator who asks for it, in a session. */
export function testMailRoute(app: App, { emails, configurations, countTest, deadlineMs }: Deps): void {
  app.post(
    '/api/v1/mail/testMail',
    {
      onRequest: [app.authenticate, requireSession, requireAdmin()],
      schema: {
        operationId: 'sendTestMail',
        tags: ['SMTP configuration'],
        summary: "Send a mail to the caller's own address through the configured server",
        description: 'Answers as `sendEmail` does. Use it after `testSmtpConnection`, which sends no mail.',
        response: sendResponses,
      },
    },
    async (request, reply) => {
      const { orgId, email, fullName } = getAccount(request);
      countTest(orgId);
      const submission = await emails.send({
        orgId,
        // What was saved a moment ago is what is tested.
        configuration: await configurations.reload(orgId, request.id),
        body: {
          emailTemplateType: 'smtpTest',
          sendEmailTo: [email],
          templateData: { userName: fullName.trim() || email },
          isAutoEmail: true,
        },
        deadlines: getResponseDeadlines(request, reply, deadlineMs),
        isFromService: true,
      });
      return prepareResponse(reply, submission);
    },
  );
}
