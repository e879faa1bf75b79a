import { createHmac } from 'node:crypto';

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
