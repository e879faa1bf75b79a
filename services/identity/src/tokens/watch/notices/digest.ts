import { DAY_MS } from '@platform/service-kit';
import type { Alert } from '../../../mails/alerts.js';
import { type NoticeItem, toItemList } from '../../../mails/outbox/notice-emails.js';
import type { UnusedToken } from '../unused/warning.sql.js';

/*
 * Pure rules for the notices about tokens that expire: 14, 7 and 1 days before, and afterwards; and about tokens that are
 * revoked because they are unused. Days are those of UTC, so
 * that all notices of a day go into one digest. A token has the number of its notices that are done.
 */

/** So many days before its expiry, the notices of a token are due. One more is due when it has expired. */
const LEAD_DAYS = [14, 7, 1] as const;
export const ALL_NOTICES = LEAD_DAYS.length + 1;

/** Older expiries are not reported. */
const MAX_EXPIRY_AGE_MS = 3 * DAY_MS;

export interface ExpiringToken {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  /** Of the service account that it acts as. */
  readonly account: string | null;
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

/** Returns whether the owner is notified. Whoever creates a token for a few days knows that it expires soon. */
export function isReportable({ createdAt, expiresAt, isMuted }: ExpiringToken, now: Date): boolean {
  if (isMuted) return false;
  if (expiresAt <= now) return now.getTime() - expiresAt.getTime() <= MAX_EXPIRY_AGE_MS;
  const lead = LEAD_DAYS[countDueNotices(expiresAt, now) - 1];
  return lead !== undefined && toDay(createdAt) < toDay(expiresAt) - lead;
}

/** Returns the day of UTC, as in `2026-01-31`. */
export const toDate = (at: Date): string => at.toISOString().slice(0, 10);
const MAX_HEADLINE_NAME_LENGTH = 120;

/** Cuts a long name between characters, so that the rest of the headline is seen. */
const shorten = (name: string): string =>
  name.length <= MAX_HEADLINE_NAME_LENGTH
    ? name
    : `${name.slice(0, MAX_HEADLINE_NAME_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;

/** The content of one mail to a holder. */
export interface DueNotices {
  readonly expiring: readonly ExpiringToken[];
  readonly unused: readonly UnusedToken[];
}

export const isEmpty = ({ expiring, unused }: DueNotices): boolean => expiring.length + unused.length === 0;

function toNotice({ expiring, unused }: DueNotices, now: Date): Alert['notice'] {
  const expiredCount = expiring.filter(({ expiresAt }) => expiresAt <= now).length;
  if (expiring.length === 0) return 'tokensUnused';
  if (unused.length > 0) return 'tokensEnd';
  if (expiredCount === 0) return 'tokensExpire';
  return expiredCount === expiring.length ? 'tokensExpired' : 'tokensExpireOrExpired';
}

/** Returns the content of the mail, for `toNoticeEmail`: what expires first is on top, what is unused comes last. */
export function describeDigest(due: DueNotices, now: Date): Alert {
  const expiring = due.expiring.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const unused = due.unused.toSorted((a, b) => a.revokedFrom.getTime() - b.revokedFrom.getTime());
  const items = [
    ...expiring.map(({ name, account, expiresAt }): NoticeItem => ({
      name,
      account: account ?? '',
      state: expiresAt <= now ? 'expired' : 'expires',
      expiresAt: expiresAt.toISOString(),
    })),
    ...unused.map(({ name, account, unusedSince, revokedFrom }): NoticeItem => ({
      name,
      account: account ?? '',
      state: 'unused',
      unusedSince: toDate(unusedSince),
      revokedFrom: toDate(revokedFrom),
    })),
  ];
  return { notice: toNotice(due, now), name: shorten(items[0]?.name ?? ''), ...toItemList(items) };
}
