import { HOUR_MS } from '@platform/service-kit';
import type { Transaction } from '../../resources.js';
import { incrementCountFrom } from '../../base/rate-limits/queries.js';
import { insertMailsFrom } from '../outbox/queries.js';
import { ALERTS_PER_HOUR, type LimitedAlert } from './limited-alerts.js';

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
