import type { InternalTemplateType } from '../templates/template-types.js';
import { type Priority, priorities } from './mail.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Templates that carry a code or a link that somebody is waiting for. */
const CODES: ReadonlySet<string> = new Set(['loginWithOTP', 'resetPassword']);

/** How long a mail is tried when its request names no end. Codes and links: as long as they usually are valid. */
const lifetimes: Partial<Record<InternalTemplateType, number>> = {
  loginWithOTP: 10 * MINUTE,
  resetPassword: HOUR,
};
const DEFAULT_LIFETIME_MS = 24 * HOUR;
const MAX_LIFETIME_MS = 7 * 24 * HOUR;

/** Only the platform's own mails have the priority of codes and notices, so that no token can delay them. */
export function choosePriority(type: InternalTemplateType, isFromService: boolean): Priority {
  if (!isFromService) return priorities.bulk;
  return CODES.has(type) ? priorities.code : priorities.notice;
}

/** @param requested - the end that the request names, in epoch ms. */
export const toExpiry = (type: InternalTemplateType, at: number, requested?: number): number =>
  requested === undefined
    ? at + (lifetimes[type] ?? DEFAULT_LIFETIME_MS)
    : Math.min(Math.max(requested, at), at + MAX_LIFETIME_MS);

const RETRY_DELAYS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR] as const;

/**
 * Returns the time of the next attempt, or undefined when the mail expires before. A mail that is valid for minutes is
 * tried sooner, as somebody waits for it: a code after 2.5, 10 and then every 30 s.
 *
 * @param attempts - how many attempts were made, at least 1.
 */
export function toNextAttempt(
  { attempts, createdAt, expiresAt }: { attempts: number; createdAt: Date; expiresAt: Date },
  at: number,
): Date | undefined {
  const delayMs = RETRY_DELAYS_MS[attempts - 1] ?? HOUR;
  const lifetimeMs = expiresAt.getTime() - createdAt.getTime();
  const next = at + Math.min(delayMs, (lifetimeMs / 240) * 4 ** (attempts - 1), lifetimeMs / 20);
  return next < expiresAt.getTime() ? new Date(next) : undefined;
}
