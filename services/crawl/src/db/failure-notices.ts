import type { InstanceKey } from '../domain/instance-key.js';
import { isSameInstance } from './runs.js';
import type { Transaction } from './transaction.js';

/* Notices about connectors that keep failing, which administrators are mailed. */

/** A notice waits so long for those about other connectors: crawls of one night fail one after the other. */
const HOLD = `interval '5 minutes'`;
/** A connector is mailed about once a day; a daily run that starts a moment earlier than the day before counts. */
const PERIOD = `interval '20 hours'`;

/** The value of `noticed_at` after a run of the state `c` has failed. @param after - so many failures in a row are noticed. */
export const noticedAfterFailure = (after: string, now: string) => `
  case when c.consecutive_failures + 1 >= ${after} and (c.noticed_at is null or c.noticed_at <= ${now}::timestamptz - ${PERIOD})
    then ${now}::timestamptz else c.noticed_at end`;

/** @param source - has the columns org_id, connector, instance, failures and reason. */
export const insertNotices = (source: string, now: string) => `
  insert into failure_notices (org_id, connector, instance, failures, reason, created_at, due_at)
  select org_id, connector, instance, failures, reason, ${now}::timestamptz, ${now}::timestamptz + ${HOLD} from (${source}) as noticed`;

export interface FailureNotice extends InstanceKey {
  readonly id: string;
  readonly displayName: string | null;
  /** 0: a run has completed since. */
  readonly failures: number;
  readonly reason: string | null;
  readonly createdAt: Date;
}

/** Locks all notices of one organisation that has one that is due; none when another replica has them. */
export async function lockNotices(tx: Transaction, now: Date): Promise<FailureNotice[]> {
  const { rows } = await tx.query<FailureNotice>({
    name: 'lock_notices',
    text: `select id, org_id as "orgId", connector, instance, failures, reason, created_at as "createdAt",
             (select display_name from connector_instances i where ${isSameInstance('i', 'n')}) as "displayName"
           from failure_notices n where org_id = (select org_id from failure_notices where due_at <= $1 order by due_at, id limit 1)
           order by id limit 1000 for update skip locked`,
    values: [now],
  });
  return rows;
}

const toIds = (notices: readonly FailureNotice[]) => notices.map(({ id }) => id);

/** Call this once identity has stored the mails. */
export const deleteNotices = (tx: Transaction, notices: readonly FailureNotice[]) =>
  tx.query('delete from failure_notices where id = any($1::bigint[])', [toIds(notices)]);

export const postponeNotices = (tx: Transaction, notices: readonly FailureNotice[], until: Date) =>
  tx.query('update failure_notices set due_at = $2 where id = any($1::bigint[])', [toIds(notices), until]);
