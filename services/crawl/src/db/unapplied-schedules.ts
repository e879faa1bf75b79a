import type pg from 'pg';
import type { Schedule } from '../domain/schedule.js';
import { inProgress } from './runs.js';
import { scheduleColumns } from './schedules.js';

/** A schedule that this replica has leased to apply it to the queue. */
export interface Unapplied extends Schedule {
  /** The expiry of the lease, which also distinguishes it from a later one. */
  readonly lease: Date;
  /** The revisions that the queue may hold jobs of, including the current one when it has been tried before. */
  readonly queuedRevisions: readonly number[];
  /** Whether one of them may be a one-off schedule, which has a job instead of a job scheduler. */
  readonly queuedOneOff: boolean;
  /** The job of the run in progress. It must be kept: a run that waits is resumed only by its job. */
  readonly jobInProgress: string | null;
}

/** Longer than a batch takes when the queue hangs; after this time the replica counts as gone. */
const LEASE = `interval '10 seconds'`;
const RETRY = `interval '1 second'`;

/*
 * The lease keeps two replicas from applying the same row, without a lock held while the queue responds. The revision
 * is recorded before it is sent to the queue, so that a crash cannot leave unknown jobs there. `apply_at` is rounded
 * to milliseconds, sometimes up.
 */
const claim = `
  with due as (
    select id, queued_revisions from schedules where apply_at <= now() + interval '1 millisecond'
    order by apply_at limit $1 for no key update skip locked
  )
  update schedules s set apply_at = now() + ${LEASE},
    queued_revisions = case when s.state = 'active' and s.revision <> all (s.queued_revisions)
      then s.queued_revisions || s.revision else s.queued_revisions end
  from due where s.id = due.id
  returning ${scheduleColumns('s')}, s.apply_at as lease, due.queued_revisions::float8[] as "queuedRevisions",
    s.queued_one_off as "queuedOneOff",
    (select job_id from runs where org_id = s.org_id and connector = s.connector and ${inProgress}) as "jobInProgress"`;

export async function claimUnapplied(db: pg.Pool, limit: number): Promise<Unapplied[]> {
  const { rows } = await db.query<Unapplied>({
    name: 'claim_unapplied',
    text: claim,
    values: [limit],
  });
  return rows;
}

/* Every transaction that locks several schedules locks them in the order of their ids. */
const held = `
  with held as (
    select * from unnest($1::uuid[], $2::timestamptz[], $3::bigint[]) as claimed (id, lease, revision)
  ), locked as (
    select s.id from schedules s join held on s.id = held.id and s.apply_at = held.lease
    order by s.id for no key update of s
  )`;
const isHeld = `s.id in (select id from locked) and s.id = held.id and s.apply_at = held.lease`;
const toValues = (rows: readonly Unapplied[]) => [
  rows.map(({ id }) => id),
  rows.map(({ lease }) => lease),
  rows.map(({ revision }) => revision),
];

/**
 * Marks rows as applied: the queue agrees with them as they were when claimed. A row that has changed since is due at
 * once; a row whose lease expired belongs to another replica.
 *
 * @returns how many are due.
 */
export async function markApplied(db: pg.Pool, rows: readonly Unapplied[]): Promise<number> {
  if (rows.some(({ state }) => state === 'removed'))
    await db.query({
      name: 'delete_removed',
      text: `${held} delete from schedules s using held
             where ${isHeld} and s.revision = held.revision and s.state = 'removed'`,
      values: toValues(rows),
    });
  const { rows: marked } = await db.query<{ isDue: boolean }>({
    name: 'mark_applied',
    // The queue now holds the revision that was active when the row was claimed.
    text: `${held} update schedules s set
             apply_at = case when s.revision <> held.revision then now() end,
             queued_revisions = case when s.revision <> held.revision and held.revision = any (s.queued_revisions)
               then array[held.revision] else '{}' end
           from held where ${isHeld} returning s.apply_at is not null as "isDue"`,
    values: toValues(rows),
  });
  return marked.filter(({ isDue }) => isDue).length;
}

/** Schedules another attempt for rows that could not be applied. */
export const postponeApplying = (db: pg.Pool, rows: readonly Unapplied[]): Promise<unknown> =>
  db.query({
    name: 'postpone_applying',
    text: `${held} update schedules s set apply_at = now() + ${RETRY} from held where ${isHeld}`,
    values: toValues(rows),
  });

/**
 * Marks one page of active schedules, in the order of their ids, because the queue may have lost their jobs. A
 * replica that is applying one of them loses its lease, as its job may be lost, too.
 *
 * @returns the last id of the page; undefined when it is empty.
 */
export async function markAllUnapplied(
  db: pg.Pool,
  afterId: string,
  limit: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ last: string | null }>({
    name: 'mark_all_unapplied',
    text: `with page as (
             select id from schedules where id > $1 and state = 'active' order by id limit $2 for no key update
           ), marked as (
             update schedules s set apply_at = now(),
               queued_revisions = case when s.apply_at is null then array[s.revision] else s.queued_revisions end
             from page where s.id = page.id
           )
           select max(id::text) as last from page`,
    values: [afterId, limit],
  });
  return rows[0]?.last ?? undefined;
}

/** After a clock was set back, the row may expect a later time than the queue; every tick until then would be void. */
export const moveNextRunEarlier = (db: pg.Pool, schedule: Pick<Schedule, 'id' | 'revision'>, at: Date) =>
  db.query({
    name: 'move_next_run_earlier',
    text: `update schedules set next_run_at = $3 where id = $1 and revision = $2 and state = 'active' and next_run_at > $3`,
    values: [schedule.id, schedule.revision, at],
  });
