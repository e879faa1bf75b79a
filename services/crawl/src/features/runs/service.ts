import type { Connector } from '@platform/events';
import { type Clock, type Page, type PageQuery, pageWindow, toPagination } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../resources.js';
import { runJobId } from '../queues/job.js';
import type { CrawlQueues } from '../queues/queues.js';
import type { ChangeSchedule } from '../schedules/locked.js';
import { findSchedule } from '../schedules/queries.js';
import { runInProgress, schedulePaused } from './errors.js';
import { countRuns, findRuns } from './history.queries.js';
import { pruneSometimes } from './pruning.js';
import { hasRunInProgress, insertRun } from './queries.js';
import type { RequestedRun, RunItem } from './schemas.js';

export interface RunService {
  /** Queues a run beside the schedule's own. @returns undefined without a schedule. @throws AppError 409; 503. */
  request(orgId: string, connector: Connector, requestId: string): Promise<RequestedRun | undefined>;
  /** The history, newest first; it outlives the schedule. */
  list(orgId: string, connector: Connector, query: PageQuery): Promise<Page<RunItem>>;
}

/** A run that nobody has taken up after this is looked for in the queue. */
const PICK_UP_MS = 60_000;

export function createRunService(deps: {
  readonly pool: pg.Pool;
  readonly change: ChangeSchedule;
  readonly prisma: Prisma;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
}): RunService {
  const { pool, change, prisma, queues, clock } = deps;
  return {
    async request(orgId, connector, requestId) {
      // Whoever asks a thousand times is told so without a wait.
      if (await hasRunInProgress(pool, orgId, connector)) throw runInProgress();
      const at = new Date(clock());
      const runId = uuidv7();
      const requested = await change(orgId, connector, async (tx) => {
        const schedule = await findSchedule(tx, orgId, connector);
        if (!schedule) return undefined;
        if (schedule.state === 'paused') throw schedulePaused();
        const run = await insertRun(tx, {
          id: runId,
          schedule,
          trigger: 'manual',
          tick: `m${runId}`,
          jobId: runJobId(runId, 0),
          state: 'waiting',
          scheduledFor: at,
          at,
          leaseUntil: new Date(at.getTime() + PICK_UP_MS),
          reason: null,
          nextRunAt: undefined,
          requestId,
        });
        if (!run) throw runInProgress();
        await queues.addRun({
          runId,
          orgId,
          connector,
          recoveries: 0,
          attemptsLeft: run.maxAttempts,
        });
        return { runId, connector, requestedAt: at.toISOString() };
      });
      pruneSometimes(pool, orgId, connector);
      return requested;
    },

    async list(orgId, connector, query) {
      const total = await countRuns(prisma, orgId, connector);
      const window = pageWindow(query, total);
      return {
        data: window ? await findRuns(prisma, orgId, connector, window) : [],
        pagination: toPagination(query, total),
      };
    },
  };
}
