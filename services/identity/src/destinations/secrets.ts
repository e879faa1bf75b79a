import { createHmac, randomBytes } from 'node:crypto';

/*
 * Standard Webhooks: a secret is `whsec_` and base64, and signs `<id>.<seconds>.<body>`. While it is being replaced, a request
 * has a signature of each of the two, of which one has to verify.
 */

/** The context that binds a sealed secret to its destination. */
export const destinationSecretContext = (destinationId: string): string =>
  `destination-secret:${destinationId}`;

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const createSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** How long the secret that was replaced signs, too. */
export const REPLACED_SECRET_MS = 24 * 60 * 60_000;

/** Returns the headers of a request. @param id - the same for each attempt: receivers drop an id that they have seen. */
export function signWebhook(
  secrets: readonly string[],
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}
