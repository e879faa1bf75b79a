import { HOUR_MS } from '@platform/service-kit';
import type { Transaction } from '../../resources.js';
import { incrementCountFrom } from '../../base/rate-limits/queries.js';
import { insertMailsFrom } from '../outbox/queries.js';
import { ALERTS_PER_HOUR, type LimitedAlert } from './limited-alerts.js';

/* Counts the alert and inserts its mails. */
const insertAlert = `
  with cause as (select $4::timestamptz as created_at),
  alert_count as (
    ${incrementCountFrom('$3::text', 'created_at', HOUR_MS, 'cause')}
  ), alert_mails as (
    select case when points <= ${ALERTS_PER_HOUR} then $1::jsonb
                when points = ${ALERTS_PER_HOUR + 1} then $2::jsonb end as mails
    from alert_count
  ), alerted as (${insertMailsFrom('mails', 'alert_mails')}
  )
  select`;

/** Stores an alert in the transaction of what it reports. */
export async function storeAlert(
  db: Pick<Transaction, '$executeRawUnsafe'> | { query(text: string, values: unknown[]): Promise<unknown> },
  { mails, summaries, countKey }: LimitedAlert,
  at: Date,
): Promise<void> {
  if (mails === null) return;
  const values = [mails, summaries, countKey, at.toISOString()];
  await ('query' in db ? db.query(insertAlert, values) : db.$executeRawUnsafe(insertAlert, ...values));
}
