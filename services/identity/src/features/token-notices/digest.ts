import { DAY_MS } from '@platform/service-kit';
import type { EndingToken } from '../outgoing-mails/emails.js';

/*
 * Pure rules for the notices about tokens that expire: 14, 7 and 1 days before, and afterwards. Days are those of UTC, so
 * that all notices of a day go into one digest. A token has the number of its notices that are done.
 */

/** So many days before its expiry, the notices of a token are due. One more is due when it has expired. */
const LEAD_DAYS = [14, 7, 1] as const;
export const ALL_NOTICES = LEAD_DAYS.length + 1;

/** Expiries that are longer ago are no news. */
const MAX_NEWS_MS = 3 * DAY_MS;
const MAX_LISTED = 50;

export interface ExpiringToken {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly isMuted: boolean;
}

const toDay = (at: Date): number => Math.floor(at.getTime() / DAY_MS);

/** Returns how many notices of a token are due: a notice that was missed is not made up for by a later one. */
export function countDueNotices(expiresAt: Date, now: Date): number {
  if (expiresAt <= now) return ALL_NOTICES;
  const days = toDay(expiresAt) - toDay(now);
  return LEAD_DAYS.filter((lead) => days <= lead).length;
}

/** Returns whether the owner is told. Whoever creates a token for a few days knows that it expires soon. */
export function isNews({ createdAt, expiresAt, isMuted }: ExpiringToken, now: Date): boolean {
  if (isMuted) return false;
  if (expiresAt <= now) return now.getTime() - expiresAt.getTime() <= MAX_NEWS_MS;
  const lead = LEAD_DAYS[countDueNotices(expiresAt, now) - 1];
  return lead !== undefined && toDay(createdAt) < toDay(expiresAt) - lead;
}

const describeTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const describeEnd = ({ expiresAt }: ExpiringToken, now: Date): string =>
  `${expiresAt <= now ? 'expired' : 'expires'} on ${describeTime(expiresAt)}`;

const MAX_HEADLINE_NAME_LENGTH = 120;

/** Cuts a long name between characters, so that the rest of the headline is seen. */
const shorten = (name: string): string =>
  name.length <= MAX_HEADLINE_NAME_LENGTH
    ? name
    : `${name.slice(0, MAX_HEADLINE_NAME_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;

function toHeadline(tokens: readonly ExpiringToken[], now: Date): string {
  const expiredCount = tokens.filter(({ expiresAt }) => expiresAt <= now).length;
  const [first] = tokens;
  if (tokens.length === 1 && first)
    return `The access token "${shorten(first.name)}" ${expiredCount === 1 ? 'has expired' : 'expires soon'}`;
  if (expiredCount === 0) return `${tokens.length} access tokens expire soon`;
  if (expiredCount === tokens.length) return `${tokens.length} access tokens have expired`;
  return `${tokens.length} access tokens expire soon or have expired`;
}

/** Returns the content of the mail, for `toTokenExpiringEmail`. */
export function describeDigest(tokens: readonly ExpiringToken[], now: Date): Record<string, string> {
  const sorted = tokens.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const listed = sorted
    .slice(0, MAX_LISTED)
    .map((token): EndingToken => ({ name: token.name, end: describeEnd(token, now) }));
  const moreCount = tokens.length - listed.length;
  return {
    headline: toHeadline(tokens, now),
    tokens: JSON.stringify(listed),
    more: moreCount === 0 ? '' : `And ${moreCount} more.`,
  };
}
