import { type InternalMailClient, ServiceFault } from '@platform/clients';
import type { SendEmailRequest } from './email-request.js';

/** The outcome of a send, as far as the mail service knows it. */
export type SendResult =
  | { readonly state: 'sent' }
  /** The mail service will never accept this message. */
  | { readonly state: 'rejected'; readonly reason: string }
  /** The SMTP server rejected the mail permanently, for example because the recipient doesn't exist. */
  | { readonly state: 'refused'; readonly reason: string }
  /** The SMTP server certainly hasn't accepted the mail. */
  | { readonly state: 'failed'; readonly reason: string }
  /** The SMTP server may have accepted the mail. */
  | { readonly state: 'unknown'; readonly reason: string }
  /** The outcome isn't known yet: ask again with the same idempotency key. */
  | { readonly state: 'waiting'; readonly reason: string };

export interface SendOptions {
  readonly idempotencyKey: string;
  /** The id of the request that caused the mail, so that both services log the same id. */
  readonly requestId: string | null;
  readonly signal: AbortSignal;
}

export type SendMail = (message: SendEmailRequest, options: SendOptions) => Promise<SendResult>;

/** The reason given while the mail service is still trying to deliver an accepted mail. */
export const IN_PROGRESS = 'in progress';

/** The time for which a slot waits for an SMTP server that doesn't respond; a later attempt asks for the outcome. */
const WAIT_SECONDS = 2;

/** The mail service may go on after this timeout: the next attempt, with the same key, gets the outcome. */
export const SEND_TIMEOUT_MS = 10_000;

const states: Readonly<Record<string, 'failed' | 'refused' | 'unknown' | 'waiting'>> = {
  SMTP_ERROR: 'failed',
  SMTP_REFUSED: 'refused',
  DELIVERY_UNKNOWN: 'unknown',
  // An administrator may complete the configuration before the mail expires.
  SMTP_INCOMPLETE: 'waiting',
};

/** Statuses that a retry of the same message wouldn't change. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Classifies a failed call by the mail service's own answer. Without one, the next attempt asks again. */
function toResult(error: unknown): SendResult {
  if (!(error instanceof ServiceFault))
    return { state: 'waiting', reason: error instanceof Error ? error.name : 'Error' };
  const { kind, status, code = 'no code', detailList, cause } = error;
  if (status === undefined) {
    const detail = (cause as { code?: unknown } | undefined)?.code;
    return { state: 'waiting', reason: typeof detail === 'string' ? `${kind} (${detail})` : kind };
  }
  const state = states[code] ?? (FINAL_STATUSES.has(status) ? 'rejected' : 'waiting');
  const explanation = state === 'refused' ? detailList[0]?.message : undefined;
  return { state, reason: explanation ?? `${status} ${code}` };
}

/** Sends mails through the mail service on behalf of organisations. */
export function createSendMail(options: {
  readonly mail: Pick<InternalMailClient, 'call'>;
  /** Returns identity's own credential, with `SEND_MAIL`. */
  readonly serviceToken: () => Promise<string>;
}): SendMail {
  return async (body, { idempotencyKey, requestId, signal }) => {
    const headers = {
      'idempotency-key': idempotencyKey,
      prefer: `respond-async, wait=${WAIT_SECONDS}`,
    };
    try {
      const token = await options.serviceToken();
      const context = { token, orgId: body.orgId, requestId: requestId ?? undefined, signal };
      const { data } = await options.mail.call('sendEmailForOrganisation', { headers, body }, context);
      return 'id' in data ? { state: 'waiting', reason: IN_PROGRESS } : { state: 'sent' };
    } catch (error) {
      return toResult(error);
    }
  };
}
