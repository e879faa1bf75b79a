import { DAY_MS } from '@platform/service-kit';
import type { EndingToken } from '../../../mails/outbox/email-request.js';
import type { UnusedToken } from '../unused/warning.queries.js';

/*
 * Pure rules for the notices about tokens that expire: 14, 7 and 1 days before, and afterwards; and about tokens that are
 * revoked because they are unused. Days are those of UTC, so
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

/** Returns the day of UTC, as in `2026-01-31`. */
export const toDate = (at: Date): string => at.toISOString().slice(0, 10);
const describeTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const describeEnd = ({ expiresAt }: ExpiringToken, now: Date): string =>
  `${expiresAt <= now ? 'expired' : 'expires'} on ${describeTime(expiresAt)}`;

const MAX_HEADLINE_NAME_LENGTH = 120;

/** Cuts a long name between characters, so that the rest of the headline is seen. */
const shorten = (name: string): string =>
  name.length <= MAX_HEADLINE_NAME_LENGTH
    ? name
    : `${name.slice(0, MAX_HEADLINE_NAME_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;

const describeUnused = ({ unusedSince, revokedFrom }: UnusedToken): string =>
  `not used since ${toDate(unusedSince)}: it is revoked on ${toDate(revokedFrom)}, unless it is used before`;

/** The content of one mail to a holder. */
export interface News {
  readonly expiring: readonly ExpiringToken[];
  readonly unused: readonly UnusedToken[];
}

export const isEmpty = ({ expiring, unused }: News): boolean => expiring.length + unused.length === 0;

function toHeadline({ expiring, unused }: News, now: Date): string {
  const expiredCount = expiring.filter(({ expiresAt }) => expiresAt <= now).length;
  const count = expiring.length + unused.length;
  const first = expiring[0] ?? unused[0];
  if (count === 1 && first)
    return `The access token "${shorten(first.name)}" ${
      unused.length === 1 ? 'is unused' : expiredCount === 1 ? 'has expired' : 'expires soon'
    }`;
  if (unused.length === count) return `${count} access tokens are unused, and are revoked soon`;
  if (unused.length > 0) return `${count} access tokens end soon or have ended`;
  if (expiredCount === 0) return `${count} access tokens expire soon`;
  if (expiredCount === count) return `${count} access tokens have expired`;
  return `${count} access tokens expire soon or have expired`;
}

/** Returns the content of the mail, for `toTokenExpiringEmail`: what expires first is on top, what is unused comes last. */
export function describeDigest(news: News, now: Date): Record<string, string> {
  const expiring = news.expiring.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const unused = news.unused.toSorted((a, b) => a.revokedFrom.getTime() - b.revokedFrom.getTime());
  const lines = [
    ...expiring.map((token): EndingToken => ({ name: token.name, end: describeEnd(token, now) })),
    ...unused.map((token): EndingToken => ({ name: token.name, end: describeUnused(token) })),
  ];
  const moreCount = lines.length - MAX_LISTED;
  return {
    headline: toHeadline(news, now),
    tokens: JSON.stringify(lines.slice(0, MAX_LISTED)),
    more: moreCount <= 0 ? '' : `And ${moreCount} more.`,
  };
}
