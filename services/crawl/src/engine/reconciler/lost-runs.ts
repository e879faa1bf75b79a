import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { extendLease, findLost, type LostRun, requeueLost } from '../../db/lost-runs.js';
import { abortOrphan } from '../../db/runs.js';
import { toRunJobId } from '../../queue/job.js';
import { type CrawlQueues, isPending } from '../../queue/queues.js';
import type { CrawlMetrics } from '../metrics.js';
import { forEachConcurrently } from './for-each-concurrently.js';

const BATCH = 500;
const MAX_CONCURRENT_RECOVERIES = 4;
const CLAIM_GRACE_MS = 60_000;

/**
 * Recovers runs in progress whose lease has expired. While the queue has their job, BullMQ's own check for stalled
 * jobs delivers it again; when the queue has lost it, they get a new one.
 */
export function createLostRuns(deps: {
  readonly pool: pg.Pool;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
  readonly metrics: CrawlMetrics;
  readonly log: Logger;
}) {
  const { pool, queues, clock, metrics, log } = deps;

  async function recover(run: LostRun): Promise<void> {
    const { id: runId, orgId, connector } = run;
    const now = new Date(clock());
    if (!run.hasSchedule && (await abortOrphan(pool, runId, now))) {
      metrics.repairs.inc({ kind: 'orphaned_run' });
      log.warn({ runId, connector }, 'aborted a run in progress that had no schedule');
      return;
    }
    const until = new Date(now.getTime() + CLAIM_GRACE_MS);
    if (isPending(await queues.jobState(connector, run.jobId))) {
      // The lease of an active run is not extended, so that the next delivery of its job can claim it.
      if (run.state !== 'active') await extendLease(pool, runId, now, until);
      return;
    }
    const recoveries = run.recoveries + 1;
    if (!(await requeueLost(pool, run, { now, until, jobId: toRunJobId(runId, recoveries) }))) return;
    // If the queue does not respond, the run counts as lost again when this lease expires.
    const attemptsLeft = Math.max(1, run.maxAttempts - run.attempts + 1);
    await queues.addRun({ runId, orgId, connector, recoveries, attemptsLeft });
    metrics.repairs.inc({ kind: 'lost_run' });
    log.warn({ runId, connector, recoveries }, 'queued a run again whose lease had expired');
  }

  return async (): Promise<void> => {
    const lost = await findLost(pool, new Date(clock()), BATCH);
    await forEachConcurrently(lost, recover, {
      log,
      what: 'the recovery of a run',
      concurrency: MAX_CONCURRENT_RECOVERIES,
    });
  };
}
