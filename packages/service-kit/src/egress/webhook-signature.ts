import { createHmac, randomBytes } from 'node:crypto';

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

export const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** @returns the key of a secret in the form `whsec_<base64>`; undefined when it is none. */
export function parseWebhookSecret(value: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(value)?.[1] ?? '', 'base64');
  return key.length >= MIN_SECRET_BYTES && key.length <= MAX_SECRET_BYTES ? key : undefined;
}

/**
 * Returns the headers that prove who sent a request: those of Standard Webhooks (https://www.standardwebhooks.com),
 * with one signature for each secret, so that a secret can be rotated while both sides run.
 *
 * @param given.content - what is signed after the id and the time: the body, or `GET /path` for a request without
 * one.
 */
export function signatureHeaders(
  secrets: readonly Buffer[],
  given: { readonly id: string; readonly at: number; readonly content: string },
): Record<string, string> {
  const timestamp = String(Math.floor(given.at / 1_000));
  const signed = `${given.id}.${timestamp}.${given.content}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': given.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
