import { DAY_MS } from '../clock.js';
import { type AppError, conflict } from '../errors.js';
import { createWebhookSecret, parseWebhookSecret } from './webhook-signature.js';

/*
 * The secrets that sign the requests to one receiver, as JSON that its owner seals: the current one, and each one that it
 * has replaced, which signs for a while. However often the secret is replaced, a receiver has this time to follow.
 */

/** Each adds a signature of 47 bytes to the headers of a request. */
const MAX_REPLACED_SECRETS = 20;

export const tooManyWebhookSecrets = (): AppError =>
  conflict(
    'TOO_MANY_SECRETS',
    `${MAX_REPLACED_SECRETS} replaced secrets still sign: wait until the time of one has passed`,
  );

interface WebhookSecrets {
  readonly current: string;
  /** The newest first. */
  readonly replaced: readonly { readonly secret: string; readonly until: number }[];
}

const parse = (text: string): WebhookSecrets => JSON.parse(text) as WebhookSecrets;
const toText = (secrets: WebhookSecrets): string => JSON.stringify(secrets);
const findSigning = ({ replaced }: WebhookSecrets, at: number) => replaced.filter(({ until }) => until > at);

/** Returns a secret, and the text that keeps it. @param secret - a new one by default. */
export const createWebhookSecrets = (
  secret: string = createWebhookSecret(),
): { readonly secret: string; readonly secrets: string } => ({
  secret,
  secrets: toText({ current: secret, replaced: [] }),
});

/**
 * Replaces the current secret, which goes on signing for a while.
 *
 * @param replacement.secret - a new one by default; the current one changes nothing.
 * @param replacement.overlapMs - how long the replaced secret signs; a day by default.
 * @throws AppError 409 while too many replaced ones sign.
 */
export function replaceWebhookSecret(
  text: string,
  at: number,
  {
    secret = createWebhookSecret(),
    overlapMs = DAY_MS,
  }: { readonly secret?: string; readonly overlapMs?: number } = {},
): { readonly secret: string; readonly secrets: string; readonly until: number } {
  const before = parse(text);
  const until = at + overlapMs;
  if (secret === before.current) return { secret, secrets: text, until };
  const signing = findSigning(before, at);
  if (signing.length >= MAX_REPLACED_SECRETS) throw tooManyWebhookSecrets();
  const replaced = [{ secret: before.current, until }, ...signing];
  return { secret, secrets: toText({ current: secret, replaced }), until };
}

/** Returns the keys that sign at that time, the current one first. */
export function readWebhookKeys(text: string, at: number): Buffer[] {
  const secrets = parse(text);
  return [secrets.current, ...findSigning(secrets, at).map(({ secret }) => secret)].flatMap(
    (secret) => parseWebhookSecret(secret) ?? [],
  );
}
