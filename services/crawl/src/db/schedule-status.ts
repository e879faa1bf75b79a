import type pg from 'pg';
import type { InstanceKey } from '../domain/instance-key.js';
import type { RunState, RunTrigger } from '../domain/run-state.js';
import type { RunWorker } from '../domain/run-worker.js';
import type { Schedule } from '../domain/schedule.js';
import { instanceValues, isSameInstance } from './runs.js';
import { scheduleColumns } from './schedules.js';
import { ALL_INSTANCES } from './worker-sightings.js';

/** The run that a status item describes: the run in progress, or the run of a finished one-off schedule. */
export interface ShownRun {
  readonly state: RunState;
  readonly trigger: RunTrigger;
  readonly scheduledFor: Date;
  readonly progress: number;
  readonly attempts: number;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly unavailableSince: Date | null;
  /** Who does its work, which a schedule that was replaced since may have done otherwise. */
  readonly worker: RunWorker;
}

// oxfmt-ignore
const shown = [
  'state', 'trigger', 'worker', 'scheduled_for', 'progress', 'attempts', 'reason', 'created_at', 'started_at', 'finished_at',
  'unavailable_since',
] as const;

/** The most runs that are counted ahead of the run `current`, which waits for a place: those that have one, and those in line. */
export const MAX_RUNS_AHEAD = 100;
const runsAhead = `
  case when current.state = 'waiting' and current.worker <> 'pull' then (
    select count(*)::int from (
      select from runs ahead where ahead.connector = current.connector and ahead.state = 'active' and ahead.worker <> 'pull'
      union all
      select from runs ahead where ahead.connector = current.connector and ahead.state in ('waiting', 'retrying')
        and ahead.worker <> 'pull' and (ahead.due_at, ahead.id) < (current.due_at, current.id)
      limit ${MAX_RUNS_AHEAD}) as ahead) end`;

/*
 * Selects each schedule with its run in progress, using the index that allows only one. For a finished one-off
 * schedule it selects the run that it had, using the index of the history. A finished schedule whose run was pruned
 * is not shown.
 *
 * @param ahead - the runs that are ahead of the current one. A caller that does not show them spares the read.
 */
const statuses = (filter: string, ahead: string) => `
  select ${scheduleColumns('s')}, ${shown.map((column) => `coalesce(current.${column}, last.${column}) as run_${column}`).join(', ')},
    i.display_name, coalesce(c.consecutive_failures, 0) as consecutive_failures, c.last_completed_at, c.last_failure, w.seen_at,
    ${ahead} as runs_ahead
  from schedules s
    left join lateral (
      select max(seen_at) as seen_at from worker_sightings
      where org_id = s.org_id and connector = s.connector and instance in ('${ALL_INSTANCES}', s.instance)
    ) w on true
    left join connector_instances i on ${isSameInstance('i', 's')}
    left join connector_states c on ${isSameInstance('c', 's')}
    left join runs current on ${isSameInstance('current', 's')}
      and current.state in ('waiting', 'active', 'retrying')
    left join lateral (
      select * from runs had
      where s.state = 'finished' and current.id is null and ${isSameInstance('had', 's')}
        and had.schedule_id = s.id and had.revision = s.revision and had.trigger in ('schedule', 'missed')
      order by had.id desc limit 1
    ) last on true
  where s.org_id = $1 ${filter} and (s.state <> 'finished' or current.id is not null or last.id is not null)
  order by s.connector, s.instance`;
const oneStatus = statuses('and s.connector = $2 and s.instance = $3', runsAhead);
const allStatuses = statuses('', runsAhead);
const allUncounted = statuses('', 'null::int');

type Row = Schedule & {
  display_name: string | null;
  consecutive_failures: number;
  last_completed_at: Date | null;
  last_failure: string | null;
  seen_at: Date | null;
  runs_ahead: number | null;
  run_state: ShownRun['state'] | null;
  run_trigger: ShownRun['trigger'];
  run_scheduled_for: Date;
  run_progress: number;
  run_attempts: number;
  run_reason: string | null;
  run_created_at: Date;
  run_started_at: Date | null;
  run_finished_at: Date | null;
  run_unavailable_since: Date | null;
  run_worker: RunWorker;
};

/** How the runs of an instance have ended. */
export interface ConnectorHealth {
  /** How many runs in a row have failed. */
  readonly consecutiveFailures: number;
  readonly lastCompletedAt: Date | null;
  /** Why the last one failed; null after a completed one. */
  readonly lastFailure: string | null;
}

export interface ScheduleStatus {
  readonly schedule: Schedule;
  readonly displayName: string | null;
  readonly health: ConnectorHealth;
  readonly run: ShownRun | undefined;
  /** When a worker last asked for runs of the connector. */
  readonly workerSeenAt: Date | null;
  /** Of a run that waits for a place: how many of the connector's runs are ahead of it, up to {@link MAX_RUNS_AHEAD}. */
  readonly runsAhead: number;
}

const getStatus = (row: Row): ScheduleStatus => ({
  schedule: row,
  displayName: row.display_name,
  health: {
    consecutiveFailures: row.consecutive_failures,
    lastCompletedAt: row.last_completed_at,
    lastFailure: row.last_failure,
  },
  workerSeenAt: row.seen_at,
  runsAhead: row.runs_ahead ?? 0,
  run:
    row.run_state === null
      ? undefined
      : {
          state: row.run_state,
          trigger: row.run_trigger,
          scheduledFor: row.run_scheduled_for,
          progress: row.run_progress,
          attempts: row.run_attempts,
          reason: row.run_reason,
          createdAt: row.run_created_at,
          startedAt: row.run_started_at,
          finishedAt: row.run_finished_at,
          unavailableSince: row.run_unavailable_since,
          worker: row.run_worker,
        },
});

export async function findStatus(db: pg.Pool, key: InstanceKey): Promise<ScheduleStatus | undefined> {
  const { rows } = await db.query<Row>({
    name: 'schedule_status',
    text: oneStatus,
    values: instanceValues(key),
  });
  return rows[0] && getStatus(rows[0]);
}

/**
 * Returns all statuses of one organisation, one per instance; their number is limited.
 *
 * @param ahead - whether the runs ahead of each are counted.
 */
export async function findStatuses(
  db: pg.Pool,
  orgId: string,
  ahead: 'with runs ahead' | 'without runs ahead' = 'without runs ahead',
): Promise<ScheduleStatus[]> {
  const isCounted = ahead === 'with runs ahead';
  const { rows } = await db.query<Row>({
    name: isCounted ? 'schedule_statuses' : 'schedule_statuses_alone',
    text: isCounted ? allStatuses : allUncounted,
    values: [orgId],
  });
  return rows.map(getStatus);
}
