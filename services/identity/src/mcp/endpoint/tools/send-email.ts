import { type CallInput, type MailClient, mailOperations, type MailOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import type { Tool, ToolSchema } from '../tool.js';

type Arguments = CallInput<MailOperations['sendEmail']>['body'] & { readonly idempotencyKey?: string };

const { inputSchema, checkedSchema } = toInputSchemas(mailOperations.sendEmail);

/** The `idempotency-key` header of the endpoint, as an argument. */
const idempotencyKey = {
  ...mailOperations.sendEmail.headers?.properties['idempotency-key'],
  pattern: '^[\\x21-\\x7e]{1,255}$',
};
const withKey = (schema: ToolSchema): ToolSchema => ({
  ...schema,
  properties: { ...schema.properties, idempotencyKey },
});

/** The mail service stops waiting this long before the call times out, so that its response still arrives. */
const MARGIN_MS = 5_000;

/** @param timeoutMs - the timeout of calls to the mail service. */
export const sendEmail = (mail: MailClient, timeoutMs: number): Tool<Arguments> => ({
  name: 'send_email',
  title: 'Send an e-mail',
  description:
    "Sends one template mail through the organisation's SMTP server. `emailTemplateType` chooses the text, `templateData` fills it: otp for loginWithOTP, resetLink for resetPassword, inviteLink for appuserInvite, userName and companyName for all. Up to 50 recipients, up to 10 attachments in base64; the whole call may take 1 MiB. The mail really goes out and can't be taken back: ask before sending to people who don't expect it. With an `idempotencyKey` of your choice the same call can be repeated safely within 24 hours, when its outcome was unknown. A definite failure is remembered as long: after an error that says that the mail was not sent, try again with a new key. Returns a confirmation that names refused recipients.",
  inputSchema: withKey(inputSchema),
  checkedSchema: withKey(checkedSchema),
  outputSchema: toOutputSchema(mailOperations.sendEmail, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  scopes: ['SEND_MAIL'],
  isAdminOnly: false,
  isTokenOnly: true,
  async call({ idempotencyKey: key, ...body }, context) {
    const waitSeconds = Math.max(1, Math.floor((timeoutMs - MARGIN_MS) / 1_000));
    const headers = {
      prefer: `wait=${waitSeconds}`,
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    return (await mail.call('sendEmail', { headers, body }, toCallContext(context))).data;
  },
});
