import type { SendEmailRequest } from './emails.js';

/** What became of a mail, as far as the mail service could tell. */
export type SendResult =
  | { readonly state: 'sent' }
  /** It will never be taken as it is. */
  | { readonly state: 'rejected'; readonly reason: string }
  /** The SMTP server will never take it: the recipient doesn't exist, for example. */
  | { readonly state: 'refused'; readonly reason: string }
  /** The SMTP server certainly hasn't taken it. */
  | { readonly state: 'failed'; readonly reason: string }
  /** The SMTP server may have taken it. */
  | { readonly state: 'unknown'; readonly reason: string }
  /** No verdict yet: to be asked again under the same key. */
  | { readonly state: 'waiting'; readonly reason: string };

export interface SendOptions {
  readonly idempotencyKey: string;
  /** Of the request that caused the mail, so that the logs of both services name one request. */
  readonly requestId: string | null;
  readonly signal: AbortSignal;
}

export type SendMail = (message: SendEmailRequest, options: SendOptions) => Promise<SendResult>;

/** The reason of a mail that the mail service has accepted and still tries to deliver. */
export const IN_PROGRESS = 'under way';

/** A slot is for this long held by an SMTP server that doesn't answer; what becomes of the mail is asked later. */
const WAIT_SECONDS = 2;

/** The mail service may go on meanwhile: the next attempt, with the same key, is told the outcome. */
const TIMEOUT_MS = 10_000;

const states: Readonly<Record<string, 'failed' | 'refused' | 'unknown' | 'waiting'>> = {
  SMTP_ERROR: 'failed',
  SMTP_REFUSED: 'refused',
  DELIVERY_UNKNOWN: 'unknown',
  // The administrator may complete it while the mail is still worth sending.
  SMTP_INCOMPLETE: 'waiting',
};

/** What would be answered the same to the same message. */
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

/** Sends through the mail service, in the name of an organisation. */
export function createMailClient(options: {
  readonly mailUrl: string;
  /** Identity's own credential, with `SEND_MAIL`. */
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
        // A redirect would take the credential and the message elsewhere.
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
