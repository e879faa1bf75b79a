import { HOUR_MS } from '@platform/service-kit';
import { type ClientAddress, describeRequest } from '../base/caller/client.js';
import { incrementCount } from '../base/rate-limits/rate-limits.sql.js';
import type { SqlClient } from '../base/sql-client.js';
import type { NoticeCode } from './outbox/email-request.js';
import type { NoticePage } from './outbox/notice-emails.js';
import type { Outbox } from './outbox/outbox.js';

/*
 * An account causes so many alerts of a kind an hour: they are mailed one by one, and one more says that there are others.
 * So nobody can fill the outbox, and what somebody causes on purpose hides no alert of another kind. [PAT-35]
 */
export const ALERTS_PER_HOUR = 10;

/** The notice of an alert, and the facts that the mail service renders. A merged alert has a `state`, too. */
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
   * The owner of the tokens that the alert is about, who sees them on their own page; null for a service account. Other
   * recipients are administrators. Undefined when it is not about tokens.
   */
  readonly tokenOwnerId?: string | null;
  /** Whether alerts of this topic are held for a minute, and sent as one mail. */
  readonly isMerged?: boolean;
  readonly at: Date;
}

/** Returns the page of the console on which the recipient sees the tokens. */
const findTokenPage = (userId: string, ownerId: string | null | undefined): NoticePage | undefined =>
  ownerId === undefined ? undefined : ownerId === userId ? 'own' : 'organisation';

/** Stores the mails of an alert in the transaction of what it reports, unless the account has caused too many. */
export async function storeAlert(
  db: SqlClient,
  outbox: Pick<Outbox, 'isEnabled' | 'add'>,
  request: AlertRequest,
): Promise<void> {
  const { recipients, alert, topic, causedBy, client, at, reportsTheft = false, isMerged = false } = request;
  if (!outbox.isEnabled) return;
  const count = await incrementCount(db, `alerts:${topic}:${causedBy}`, at, HOUR_MS);
  if (count > ALERTS_PER_HOUR + 1) return;
  const isAlert = count <= ALERTS_PER_HOUR;
  const limit = String(ALERTS_PER_HOUR);
  const facts = isAlert
    ? alert
    : (request.summary ?? { ...alert, notice: 'moreAlerts', topic: alert.notice, limit });
  const mails = recipients.map((userId) => {
    const page = findTokenPage(userId, request.tokenOwnerId);
    return {
      kind: 'token_alert',
      to: { userId },
      detail: { ...facts, ...(page && { page }), ...(client && describeRequest(client, at)) },
      requestId: client?.requestId ?? null,
      reportsTheft,
      ...(isAlert && isMerged && { mergeKey: topic }),
    } as const;
  });
  await outbox.add(db, mails, at);
}
