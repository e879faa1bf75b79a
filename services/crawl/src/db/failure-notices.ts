import type pg from 'pg';
import type { InstanceKey } from '../domain/instance-key.js';
import { isSameInstance } from './runs.js';

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

/**
 * Returns all notices of one organisation that has one that is due, and leaves them to this replica until `until`.
 */
export async function takeNotices(db: pg.Pool, now: Date, until: Date): Promise<FailureNotice[]> {
  const { rows } = await db.query<FailureNotice>({
    name: 'take_notices',
    text: `with due as (
             select org_id from failure_notices where due_at <= $1 order by due_at, id limit 1 for update skip locked
           ), taken as (
             select id from failure_notices where org_id = (select org_id from due)
             order by id limit 1000 for update skip locked
           )
           update failure_notices n set due_at = $2 from taken where n.id = taken.id
           returning n.id, org_id as "orgId", connector, instance, failures, reason, created_at as "createdAt",
             (select display_name from connector_instances i where ${isSameInstance('i', 'n')}) as "displayName"`,
    values: [now, until],
  });
  return rows.toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** Call this once identity has stored the mails, or when it is too late for them. */
export const deleteNotices = (db: pg.Pool, notices: readonly FailureNotice[]) =>
  db.query('delete from failure_notices where id = any($1::bigint[])', [notices.map(({ id }) => id)]);
