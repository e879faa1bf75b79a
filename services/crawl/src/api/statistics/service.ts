import { connectors } from '@platform/events';
import { Type } from 'typebox';
import { findTotals } from '../../db/org-statistics.js';
import { RUNS_KEPT } from '../../db/prune-runs.js';
import { countEndedRuns, type EndedRuns } from '../../db/recent-runs.js';
import { findStatuses } from '../../db/schedule-status.js';
import { isInProgress } from '../../domain/run-state.js';
import type { ApiContext } from '../context.js';
import type { ConnectorFilter } from '../authority.js';
import { type JobState, getState } from '../schedules/status-item.js';

export const Statistics = Type.Object(
  {
    waiting: Type.Integer(),
    active: Type.Integer(),
    completed: Type.Integer({ description: 'Runs, ever.' }),
    failed: Type.Integer({ description: 'Runs, ever.' }),
    delayed: Type.Integer({ description: 'Jobs whose next run, or next attempt, is later.' }),
    paused: Type.Integer(),
    repeatable: Type.Integer({ description: 'Recurring schedules that are not paused.' }),
    total: Type.Integer({ description: 'All of these but `repeatable`.' }),
  },
  { title: 'QueueStatistics' },
);
export type Statistics = Type.Static<typeof Statistics>;

const DAY_MS = 86_400_000;

export const DayStatistics = Type.Object(
  {
    completed: Type.Integer(),
    failed: Type.Integer(),
    aborted: Type.Integer(),
    isMinimum: Type.Boolean({
      description: `Whether there may have been more: of each instance, the newest ${RUNS_KEPT} runs of each outcome are kept.`,
    }),
  },
  { title: 'DayStatistics', description: 'Runs that ended in the last 24 hours.' },
);
export type DayStatistics = Type.Static<typeof DayStatistics>;

/** Counts what ended in the last day, from the history, which keeps a limited number of runs. */
export async function loadDayStatistics(
  { pool, clock }: ApiContext,
  orgId: string,
  isShown: ConnectorFilter,
): Promise<DayStatistics> {
  const instances = (await findStatuses(pool, orgId))
    .map(({ schedule }) => schedule)
    .filter(({ connector }) => isShown(connector));
  const from = new Date(clock() - DAY_MS);
  const ended = await countEndedRuns(pool, { orgId, instances, from, stepMs: DAY_MS });
  const countOf = (state: EndedRuns['state']): number =>
    sumCounts(ended.filter((row) => row.state === state));
  return {
    completed: countOf('completed'),
    failed: countOf('failed'),
    aborted: countOf('aborted'),
    isMinimum: instances.some(
      ({ connector, instance }) =>
        sumCounts(ended.filter((row) => row.connector === connector && row.instance === instance)) >=
        RUNS_KEPT,
    ),
  };
}

const sumCounts = (rows: readonly EndedRuns[]): number => rows.reduce((sum, { count }) => sum + count, 0);

/**
 * Counts the caller's organisation only, and of it the connectors that the credential may be used for. Queued jobs are counted from its schedules, whose number is limited;
 * ended runs come from counters that each run updates as it ends.
 */
export async function loadStatistics(
  { pool, clock }: ApiContext,
  orgId: string,
  isShown: ConnectorFilter,
): Promise<Statistics> {
  const [all, { completed, failed }] = await Promise.all([
    findStatuses(pool, orgId),
    findTotals(pool, orgId, connectors.filter(isShown)),
  ]);
  const statuses = all.filter(({ schedule }) => isShown(schedule.connector));
  const now = clock();
  const counts: Record<JobState, number> = {
    waiting: 0,
    active: 0,
    completed,
    failed,
    delayed: 0,
    paused: 0,
  };
  for (const { schedule, run } of statuses)
    // The totals include a finished one-off job already.
    if (schedule.state !== 'finished' || (run && isInProgress(run.state)))
      counts[getState(schedule, run, now)] += 1;
  const repeatable = statuses.filter(
    ({ schedule }) => schedule.state === 'active' && schedule.config.scheduleType !== 'once',
  ).length;
  return { ...counts, repeatable, total: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
