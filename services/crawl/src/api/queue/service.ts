import { countEndedRuns, type EndedRuns } from '../../db/recent-runs.js';
import { findStatuses, type ScheduleStatus } from '../../db/schedule-status.js';
import type { ApiContext } from '../context.js';
import type { ConnectorFilter } from '../authority.js';
import { getState } from '../schedules/status-item.js';
import type { QueuedConnector, QueueView } from './schemas.js';

const STEPS = 30;
const STEP_MS = 2 * 60_000;

const sum = (ended: readonly EndedRuns[], state: EndedRuns['state']): number =>
  ended.reduce((total, row) => (row.state === state ? total + row.count : total), 0);

const countStates = (ended: readonly EndedRuns[]) => ({
  completed: sum(ended, 'completed'),
  failed: sum(ended, 'failed'),
  aborted: sum(ended, 'aborted'),
});

/** Returns since when a run has waited, or since when the schedule has been due without a run. */
function findWaitingSince({ schedule, run }: ScheduleStatus, now: number): string | null {
  if (run) return run.state === 'waiting' ? run.createdAt.toISOString() : null;
  const { state, nextRunAt } = schedule;
  return state === 'active' && nextRunAt !== null && nextRunAt.getTime() <= now
    ? nextRunAt.toISOString()
    : null;
}

function toQueued(status: ScheduleStatus, ended: readonly EndedRuns[], now: number): QueuedConnector {
  const { schedule, run, displayName } = status;
  const { connector, instance } = schedule;
  return {
    connector,
    instance,
    displayName,
    state: getState(schedule, run, now),
    waitingSince: findWaitingSince(status, now),
    reason: run?.reason ?? null,
    ...countStates(ended.filter((row) => row.connector === connector && row.instance === instance)),
  };
}

/** Describes the queue of each instance of the organisation's connectors, and what they did in the last hour (CRAWL-34). */
export async function loadQueue(
  { clock, pool }: ApiContext,
  orgId: string,
  isShown: ConnectorFilter,
): Promise<QueueView> {
  const now = clock();
  const statuses = (await findStatuses(pool, orgId)).filter(({ schedule }) => isShown(schedule.connector));
  // The steps are aligned, so that a bar does not change once its time has passed.
  const from = Math.floor(now / STEP_MS) * STEP_MS - (STEPS - 1) * STEP_MS;
  const instances = statuses.map(({ schedule }) => schedule);
  const ended = await countEndedRuns(pool, { orgId, instances, from: new Date(from), stepMs: STEP_MS });
  return {
    connectors: statuses.map((status) => toQueued(status, ended, now)),
    lastHour: Array.from({ length: STEPS }, (_, step) => ({
      from: new Date(from + step * STEP_MS).toISOString(),
      ...countStates(ended.filter((row) => row.step === step)),
    })),
  };
}
