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
const TIMEOUT_MS = 10_000;

const states: Readonly<Record<string, 'failed' | 'refused' | 'unknown' | 'waiting'>> = {
  SMTP_ERROR: 'failed',
  SMTP_REFUSED: 'refused',
  DELIVERY_UNKNOWN: 'unknown',
  // An administrator may complete the configuration before the mail expires.
  SMTP_INCOMPLETE: 'waiting',
};

/** Statuses that a retry of the same message wouldn't change. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

async function readResult(response: Response): Promise<SendResult> {
  if (response.status === 202) {
    await response.body?.cancel();
    return { state: 'waiting', reason: IN_PROGRESS };
  }
  if (response.ok) {
    await response.body?.cancel();
    return { state: 'sent' };
  }
  const answer = (await response.json().catch(() => undefined)) as
    { error?: { code?: unknown; details?: { message?: unknown }[] } } | null | undefined;
  const code = typeof answer?.error?.code === 'string' ? answer.error.code : 'no code';
  const state = states[code] ?? (FINAL_STATUSES.has(response.status) ? 'rejected' : 'waiting');
  const explanation = answer?.error?.details?.[0]?.message;
  const hasExplanation = state === 'refused' && typeof explanation === 'string';
  return { state, reason: hasExplanation ? explanation : `${response.status} ${code}` };
}

/** Creates a client that sends mails through the mail service on behalf of organisations. */
export function createMailClient(options: {
  readonly mailUrl: string;
  /** Returns identity's own credential, with `SEND_MAIL`. */
  readonly serviceToken: () => Promise<string>;
}): SendMail {
  return async (message, { idempotencyKey, requestId, signal }) => {
    try {
      const response = await fetch(`${options.mailUrl}/api/v1/mail/internal/sendEmail`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await options.serviceToken()}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
          prefer: `respond-async, wait=${WAIT_SECONDS}`,
          ...(requestId !== null && { 'x-request-id': requestId }),
        },
        body: JSON.stringify(message),
        // Following a redirect would leak the credential and the message.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      return await readResult(response);
    } catch (error) {
      const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
      const name = error instanceof Error ? error.name : 'Error';
      return { state: 'waiting', reason: typeof cause?.code === 'string' ? cause.code : name };
    }
  };
}
