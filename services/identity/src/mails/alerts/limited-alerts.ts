import { type ClientAddress, describeRequest } from '../../base/caller/client.js';
import type { NoticeCode } from '../outbox/email-request.js';
import type { NoticePage } from '../outbox/notice-emails.js';
import type { Outbox } from '../outbox/outbox.js';

/*
 * An account causes so many alerts of a kind an hour: they are mailed one by one, and one more says that there are others.
 * So nobody can fill the outbox, and what somebody causes on purpose hides no alert of another kind. [PAT-35]
 */
export const ALERTS_PER_HOUR = 10;

/** What an alert reports, and the facts that the mail service puts into words. One that is merged has a `state`, too. */
export interface Alert extends Record<string, string> {
  readonly notice: NoticeCode;
}

export interface AlertRequest {
  readonly recipients: readonly string[];
  readonly alert: Alert;
  /** Instead of the alert for the first one beyond the limit. */
  readonly summary?: Alert;
  /** The key that alerts are counted by, beside `causedBy`. */
  readonly topic: string;
  /** The account that can cause alerts of this kind. */
  readonly causedBy: string;
  /** The sender of the request that causes the alert; null when none does. */
  readonly client: (Pick<ClientAddress, 'address' | 'userAgent'> & { readonly requestId?: string }) | null;
  readonly reportsTheft?: boolean;
  /**
   * The owner of the tokens that the alert is about, who sees them on a page of their own; null for a service account. Other
   * recipients are administrators. Undefined when it is not about tokens.
   */
  readonly tokenOwnerId?: string | null;
  /** Whether alerts of this topic are held for a minute, and sent as one mail. */
  readonly isMerged?: boolean;
  readonly at: Date;
}

/** The mails of an alert, each a JSON array for `insertMailsFrom`; null for none. */
export interface LimitedAlert {
  readonly mails: string | null;
  /** Instead of `mails` for the first alert beyond the limit. */
  readonly summaries: string | null;
  readonly countKey: string;
}

/** Returns the page of the console on which the recipient sees the tokens. */
const findTokenPage = (userId: string, ownerId: string | null | undefined): NoticePage | undefined =>
  ownerId === undefined ? undefined : ownerId === userId ? 'own' : 'organisation';

export function limitAlert(outbox: Pick<Outbox, 'isEnabled' | 'toRow'>, request: AlertRequest): LimitedAlert {
  const { recipients, alert, topic, causedBy, client, at, reportsTheft = false, isMerged = false } = request;
  const countKey = `alerts:${topic}:${causedBy}`;
  if (!outbox.isEnabled) return { mails: null, summaries: null, countKey };
  const moreAlerts: Alert = {
    ...alert,
    notice: 'moreAlerts',
    topic: alert.notice,
    limit: String(ALERTS_PER_HOUR),
  };
  const toMails = (facts: Alert, mergeKey: string | undefined): string => {
    const mail = { kind: 'token_alert', requestId: client?.requestId ?? null, reportsTheft } as const;
    const rows = recipients.map((userId) => {
      const page = findTokenPage(userId, request.tokenOwnerId);
      const detail = { ...facts, ...(page && { page }), ...(client && describeRequest(client, at)) };
      return outbox.toRow(
        { ...mail, to: { userId }, detail, ...(mergeKey !== undefined && { mergeKey }) },
        at,
      );
    });
    return `[${rows.join(',')}]`;
  };
  return {
    mails: toMails(alert, isMerged ? topic : undefined),
    summaries: toMails(request.summary ?? moreAlerts, undefined),
    countKey,
  };
}
