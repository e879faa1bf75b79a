import { type InternalMailClient, ServiceFault } from '@platform/clients';
import type { SendEmailRequest } from './email-request.js';

/** The response of the mail service to a mail. */
export type SendResult =
  /** It has stored the mail, and tries it until it expires. It reports the outcome as a fact. */
  | { readonly state: 'stored' }
  /** It will never accept this message. */
  | { readonly state: 'rejected'; readonly reason: string }
  /** The mail service hasn't stored the mail, or didn't respond: try again with the same idempotency key. */
  | { readonly state: 'waiting'; readonly reason: string };

export interface SendOptions {
  readonly idempotencyKey: string;
  readonly expiresAt: Date;
  /** The id of the request that caused the mail, so that both services log the same id. */
  readonly requestId: string | null;
  readonly signal: AbortSignal;
}

/** The mail service may have stored the mail after this timeout: the next attempt, with the same key, finds it. */
export const SEND_TIMEOUT_MS = 10_000;

/** The outcomes of a mail that an earlier request has stored. */
const OUTCOMES: ReadonlySet<string> = new Set(['SMTP_ERROR', 'SMTP_REFUSED', 'DELIVERY_UNKNOWN']);

/**
 * Statuses that a retry of the same message wouldn't change. 400 is none: an administrator may complete the configuration, and
 * during an upgrade a mail service of another version has other rules.
 */
const FINAL_STATUSES: ReadonlySet<number> = new Set([413, 415]);

/** Classifies a failed call by the mail service's own answer. Without one, the next attempt asks again. */
function toResult(error: unknown): SendResult {
  if (!(error instanceof ServiceFault))
    return { state: 'waiting', reason: error instanceof Error ? error.name : 'Error' };
  const { kind, status, code = 'no code', cause } = error;
  if (status === undefined) {
    const detail = (cause as { code?: unknown } | undefined)?.code;
    return { state: 'waiting', reason: typeof detail === 'string' ? `${kind} (${detail})` : kind };
  }
  if (OUTCOMES.has(code)) return { state: 'stored' };
  return { state: FINAL_STATUSES.has(status) ? 'rejected' : 'waiting', reason: `${status} ${code}` };
}

export interface MailServiceContext {
  readonly mail: Pick<InternalMailClient, 'call'>;
  /** Returns identity's own credential, with `SEND_MAIL`. */
  readonly serviceToken: () => Promise<string>;
}

/** Hands a mail over to the mail service on behalf of its organisation. */
export async function sendMail(
  ctx: MailServiceContext,
  message: SendEmailRequest,
  { idempotencyKey, expiresAt, requestId, signal }: SendOptions,
): Promise<SendResult> {
  const headers = { 'idempotency-key': idempotencyKey, prefer: 'respond-async' };
  const body = { ...message, expiresAt: expiresAt.toISOString() };
  try {
    const token = await ctx.serviceToken();
    const context = { token, orgId: message.orgId, requestId: requestId ?? undefined, signal };
    await ctx.mail.call('sendEmailForOrganisation', { headers, body }, context);
    return { state: 'stored' };
  } catch (error) {
    return toResult(error);
  }
}
