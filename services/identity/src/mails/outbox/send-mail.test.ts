import { ServiceFault } from '@platform/clients';
import type { SendEmailRequest } from './email-request.js';
import { sendMail } from './send-mail.js';

const message = { orgId: 'org' } as SendEmailRequest;
const options = {
  idempotencyKey: 'id',
  expiresAt: new Date(),
  requestId: null,
  signal: AbortSignal.timeout(1_000),
};

test.each([
  ['a template that an older mail service does not know', 400, 'UNKNOWN_TEMPLATE', 'waiting'],
  ['a configuration that an administrator may complete', 400, 'SMTP_INCOMPLETE', 'waiting'],
  ['a mail service that is unavailable', 503, 'DEPENDENCY_UNAVAILABLE', 'waiting'],
  ['a message that another version may accept', 400, 'VALIDATION_ERROR', 'waiting'],
])('keeps or abandons a mail for %s', async (_what, status, code, state) => {
  const ctx = {
    mail: {
      call: async () => {
        throw new ServiceFault({ kind: 'refused', service: 'mail', message: 'no', status, code });
      },
    },
    serviceToken: async () => 'token',
  };
  expect(await sendMail(ctx, message, options)).toMatchObject({ state });
});
