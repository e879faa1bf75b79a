import { DAY_MS } from '../clock.js';
import { conflict } from '../errors.js';
import { createWebhookSecret, parseWebhookSecret } from './webhook-signature.js';

/*
 * The secrets that sign the requests to one receiver, as JSON that its owner seals: the current one, and each one that it
 * has replaced, which signs for another day. However often the secret is replaced, a receiver has a day to follow.
 */

const OVERLAP_MS = DAY_MS;
/** Each adds a signature of 47 bytes to the headers of a request. */
const MAX_REPLACED_SECRETS = 20;

interface WebhookSecrets {
  readonly current: string;
  /** The newest first. */
  readonly replaced: readonly { readonly secret: string; readonly until: number }[];
}

const parse = (text: string): WebhookSecrets => JSON.parse(text) as WebhookSecrets;
const toText = (secrets: WebhookSecrets): string => JSON.stringify(secrets);
const findSigning = ({ replaced }: WebhookSecrets, at: number) => replaced.filter(({ until }) => until > at);

/** Returns a new secret, and the text that keeps it. */
export function createWebhookSecrets(): { readonly secret: string; readonly secrets: string } {
  const secret = createWebhookSecret();
  return { secret, secrets: toText({ current: secret, replaced: [] }) };
}

/** Replaces the current secret, which signs for another day. @throws AppError 409 while too many replaced ones sign. */
export function replaceWebhookSecret(
  text: string,
  at: number,
): { readonly secret: string; readonly secrets: string; readonly until: number } {
  const before = parse(text);
  const signing = findSigning(before, at);
  if (signing.length >= MAX_REPLACED_SECRETS)
    throw conflict(
      'TOO_MANY_SECRETS',
      `${MAX_REPLACED_SECRETS} replaced secrets still sign: wait until the day of one has passed`,
    );
  const secret = createWebhookSecret();
  const until = at + OVERLAP_MS;
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
