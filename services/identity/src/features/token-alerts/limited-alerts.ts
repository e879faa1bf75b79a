import { type ClientAddress, describeRequest } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { type Alert, describeMany } from './alerts.js';

/*
 * An account causes so many alerts of a kind an hour: they are mailed one by one, and one more says that there are others.
 * So nobody can fill the outbox, and what somebody causes on purpose hides no alert of another kind. [PAT-35]
 */
export const ALERTS_PER_HOUR = 10;

export interface AlertRequest {
  readonly recipients: readonly string[];
  readonly alert: Alert;
  /** Instead of the alert for the first one beyond the limit. */
  readonly summary?: Alert;
  /** What alerts are counted by, beside `causedBy`. */
  readonly topic: string;
  /** The account that can cause alerts of this kind. */
  readonly causedBy: string;
  /** Who sent the request that causes the alert; null when none did. */
  readonly client: (Pick<ClientAddress, 'address' | 'userAgent'> & { readonly requestId?: string }) | null;
  readonly reportsTheft?: boolean;
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

export function limitAlert(outbox: Outbox, request: AlertRequest): LimitedAlert {
  const { recipients, alert, topic, causedBy, client, at, reportsTheft = false, isMerged = false } = request;
  const countKey = `alerts:${topic}:${causedBy}`;
  if (!outbox.isEnabled) return { mails: null, summaries: null, countKey };
  const toMails = (text: Alert, mergeKey: string | undefined): string => {
    const detail = { ...text, ...(client && describeRequest(client, at)) };
    const mail = { kind: 'token_alert', detail, requestId: client?.requestId ?? null, reportsTheft } as const;
    const rows = recipients.map((userId) =>
      outbox.toRow({ ...mail, to: { userId }, ...(mergeKey !== undefined && { mergeKey }) }, at),
    );
    return `[${rows.join(',')}]`;
  };
  return {
    mails: toMails(alert, isMerged ? topic : undefined),
    summaries: toMails(request.summary ?? describeMany(alert, ALERTS_PER_HOUR), undefined),
    countKey,
  };
}
