import type { Connector } from '@platform/events';
import { type Clock, type Page, type PageQuery, pageWindow, toPagination } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../db/prisma.js';
import { maybePruneRuns } from '../../db/prune-runs.js';
import { countRuns, findRuns, type RunHistoryRow } from '../../db/run-history.js';
import { hasRunInProgress, insertRun, withdrawRun } from '../../db/runs.js';
import { findSchedule } from '../../db/schedules.js';
import { FIRST_LOOK_MS } from '../../domain/run-state.js';
import { runJobId } from '../../queue/job.js';
import type { CrawlQueues } from '../../queue/queues.js';
import { runInProgress, schedulePaused } from './errors.js';
import type { RequestedRun, RunItem } from './schemas.js';

export interface RunService {
  /** Queues a run beside the schedule's own. @returns undefined without a schedule. @throws AppError 409; 503. */
  request(orgId: string, connector: Connector, requestId: string): Promise<RequestedRun | undefined>;
  /** The history, newest first; it outlives the schedule. */
  list(orgId: string, connector: Connector, query: PageQuery): Promise<Page<RunItem>>;
}

const toRunItem = (run: RunHistoryRow): RunItem => ({
  runId: run.id,
  connector: run.connector,
  trigger: run.trigger,
  outcome: run.state,
  scheduledFor: run.scheduledFor.toISOString(),
  startedAt: run.startedAt?.toISOString() ?? null,
  finishedAt: run.finishedAt?.toISOString() ?? null,
  attempts: run.attempts,
  progress: run.progress,
  reason: run.reason,
  eventId: run.eventId,
});

export function createRunService(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly queues: Pick<CrawlQueues, 'addRun'>;
  readonly clock: Clock;
}): RunService {
  const { pool, prisma, queues, clock } = deps;
  async function refuse(orgId: string, connector: Connector): Promise<undefined> {
    const schedule = await findSchedule(pool, orgId, connector);
    if (!schedule) return undefined;
    throw schedule.state === 'paused' ? schedulePaused() : runInProgress();
  }

  return {
    async request(orgId, connector, requestId) {
      // Whoever asks a thousand times is told so without a wait.
      if (await hasRunInProgress(pool, orgId, connector)) throw runInProgress();
      const schedule = await findSchedule(pool, orgId, connector);
      if (!schedule) return undefined;
      if (schedule.state === 'paused') throw schedulePaused();
      const at = new Date(clock());
      const runId = uuidv7();
      const run = await insertRun(pool, {
        id: runId,
        schedule: { id: schedule.id },
        trigger: 'manual',
        tick: `m${runId}`,
        jobId: runJobId(runId, 0),
        state: 'waiting',
        scheduledFor: at,
        at,
        leaseUntil: new Date(at.getTime() + FIRST_LOOK_MS),
        reason: null,
        nextRunAt: undefined,
        requestId,
      });
      // Another run, a pause or a removal came first.
      if (!run) return refuse(orgId, connector);
      try {
        await queues.addRun({
          runId,
          orgId,
          connector,
          recoveries: 0,
          attemptsLeft: run.maxAttempts,
        });
      } catch (error) {
        // A job that is added after all finds no run, and does nothing.
        if (await withdrawRun(pool, runId)) throw error;
      }
      maybePruneRuns(pool, orgId, connector);
      return { runId, connector, requestedAt: at.toISOString() };
    },

    async list(orgId, connector, query) {
      const total = await countRuns(prisma, orgId, connector);
      const window = pageWindow(query, total);
      return {
        data: window ? (await findRuns(prisma, orgId, connector, window)).map(toRunItem) : [],
        pagination: toPagination(query, total),
      };
    },
  };
}
