import { HOUR_MS } from '@platform/service-kit';
import type { Transaction } from '../../resources.js';
import { incrementCountFrom } from '../attempt-limits/queries.js';
import { type ClientAddress, describeRequest } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { insertMailsFrom } from '../outgoing-mails/queries.js';
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
  readonly client: ClientAddress | null;
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

/**
 * Returns the parts of a `with` clause that count an alert and insert its mails, so that the statement that causes the
 * alert stores it.
 *
 * @param alert - the parameters with the fields of a `LimitedAlert`.
 * @param cause - the table expression whose row causes the alert, one at most, with the time `created_at`.
 */
export const insertAlertFrom = (
  alert: { readonly mails: string; readonly summaries: string; readonly countKey: string },
  cause: string,
): string => `
  alert_count as (
    ${incrementCountFrom(`${alert.countKey}::text`, 'created_at', HOUR_MS, `${cause} where ${alert.mails}::jsonb is not null`)}
  ), alert_mails as (
    select case when points <= ${ALERTS_PER_HOUR} then ${alert.mails}::jsonb
                when points = ${ALERTS_PER_HOUR + 1} then ${alert.summaries}::jsonb end as mails
    from alert_count
  ), alerted as (${insertMailsFrom('mails', 'alert_mails')}
  )`;

const insertAlert = `
  with cause as (select $4::timestamptz as created_at),
  ${insertAlertFrom({ mails: '$1', summaries: '$2', countKey: '$3' }, 'cause')}
  select`;

/** Stores an alert in the transaction of what it tells about. */
export async function storeAlert(
  db: Pick<Transaction, '$executeRawUnsafe'> | { query(text: string, values: unknown[]): Promise<unknown> },
  { mails, summaries, countKey }: LimitedAlert,
  at: Date,
): Promise<void> {
  if (mails === null) return;
  const values = [mails, summaries, countKey, at.toISOString()];
  await ('query' in db ? db.query(insertAlert, values) : db.$executeRawUnsafe(insertAlert, ...values));
}
