import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { InstanceKey } from '../domain/instance-key.js';
import type { RunState } from '../domain/run-state.js';

/** Runs that began at most this long before the period are found. */
const MAX_RUN_MS = 6 * 3_600_000;

export interface EndedRuns {
  readonly connector: string;
  readonly instance: string;
  readonly state: Extract<RunState, 'completed' | 'failed' | 'aborted'>;
  /** The index of the step, counted from `from`. */
  readonly step: number;
  readonly count: number;
}

/**
 * Counts the runs that ended in a period, by steps. The history is the only source: it keeps more runs of each
 * connector than an hour can have, and some hundreds at most.
 */
export async function countEndedRuns(
  db: pg.Pool,
  given: {
    readonly orgId: string;
    readonly instances: readonly Pick<InstanceKey, 'connector' | 'instance'>[];
    readonly from: Date;
    readonly stepMs: number;
  },
): Promise<EndedRuns[]> {
  const { orgId, instances, from, stepMs } = given;
  const firstId = uuidv7({
    msecs: Math.max(0, from.getTime() - MAX_RUN_MS),
    seq: 0,
    random: new Uint8Array(16),
  });
  const { rows } = await db.query<EndedRuns>({
    name: 'count_ended_runs',
    // The index of the history leads to the recent runs of each instance, past all others.
    text: `select connector, instance, state, floor(extract(epoch from finished_at - $3::timestamptz) * 1000 / $4)::int as step,
             count(*)::int as count
           from unnest($2::text[], $6::text[]) as of (connector, instance), lateral (
             select state, finished_at from runs
             where org_id = $1 and runs.connector = of.connector and runs.instance = of.instance and id >= $5
               and finished_at >= $3 and state in ('completed', 'failed', 'aborted')) recent
           group by 1, 2, 3, 4`,
    values: [
      orgId,
      instances.map(({ connector }) => connector),
      from,
      stepMs,
      firstId,
      instances.map(({ instance }) => instance),
    ],
  });
  return rows;
}
