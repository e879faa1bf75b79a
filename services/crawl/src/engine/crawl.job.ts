import { connectors } from '@platform/events';
import { type Logger, withSpan } from '@platform/service-kit';
import { DelayedError, UnrecoverableError, type WorkerOptions } from 'bullmq';
import { toQueueName } from '../domain/connectors.js';
import type { CrawlWorker, QueueBackend } from '../queue/backend.js';
import { createErrorReporter } from '../queue/error-reporter.js';
import type { CrawlJob } from '../queue/job.js';
import { repeatSettings } from '../queue/schedule-jobs.js';
import type { ClaimedRun } from './claimed-run.js';
import { retryTransient } from './retry-transient.js';
import type { RunLifecycle } from './run-lifecycle.js';
import { getLogFields, runTask, type RunTaskDeps } from './run-task.js';
import { EndpointUnavailable, RunStopped } from './tasks/task.js';

/** Added to the end of a lease, as its holder's clock may be a little behind. */
const DEFERRED_MARGIN_MS = 1_000;

export type RunOutcome = 'completed' | 'failed' | 'retry' | 'postponed' | 'handed_back' | 'void';

export interface CrawlJobDeps extends RunTaskDeps {
  readonly lifecycle: RunLifecycle;
  readonly onOutcome: (connector: string, outcome: RunOutcome, seconds: number) => void;
}

function toReason(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'The task failed';
}

/** Delays the job until `at`. */
async function delayJob(job: CrawlJob, token: string | undefined, at: number): Promise<never> {
  await job.moveToDelayed(at, token);
  throw new DelayedError();
}

/** Keeps a job that did nothing out of the queue's history. */
function removeJobOnCompletion({ opts }: CrawlJob): void {
  opts.removeOnComplete = true;
}

/**
 * Creates the processor of every queue. Its errors tell BullMQ to retry the job, to fail it, or to delay it; the
 * outcome of the run is in its row by then.
 */
export function createProcessor(deps: CrawlJobDeps) {
  const { lifecycle, stopping, clock } = deps;

  async function settle(
    claimed: ClaimedRun,
  ): Promise<{ outcome: RunOutcome; reason?: string; until?: number }> {
    try {
      await runTask(deps, claimed);
    } catch (error) {
      if (error instanceof EndpointUnavailable) {
        const followed = await retryTransient(() => lifecycle.postpone(claimed, error), stopping);
        const reason = error.message;
        if (typeof followed === 'string') return { outcome: followed, reason };
        return { outcome: 'postponed', reason, until: followed.until };
      }
      if (error instanceof RunStopped && error.reason === 'ended') return { outcome: 'void' };
      if (error instanceof RunStopped && error.reason === 'shutdown') {
        await retryTransient(() => lifecycle.handBack(claimed), stopping);
        return { outcome: 'handed_back' };
      }
      const reason = toReason(error);
      return { outcome: await retryTransient(() => lifecycle.fail(claimed, reason), stopping), reason };
    }
    return {
      outcome: (await retryTransient(() => lifecycle.complete(claimed), stopping)) ? 'completed' : 'void',
    };
  }

  async function run(job: CrawlJob, token: string | undefined): Promise<RunOutcome> {
    const claimed = await retryTransient(() => lifecycle.claim(job), stopping);
    if (!claimed) {
      removeJobOnCompletion(job);
      return 'void';
    }
    if ('deferredUntil' in claimed) {
      deps.log.debug({ jobId: job.id }, `a job ${claimed.why}`);
      return delayJob(job, token, claimed.deferredUntil + DEFERRED_MARGIN_MS);
    }
    const startedAt = clock();
    const { outcome, reason, until = clock() } = await settle(claimed);
    const { connector, unavailableSince } = claimed.run;
    deps.onOutcome(connector, outcome, (clock() - startedAt) / 1_000);
    const isWarning =
      outcome === 'failed' || outcome === 'retry' || (outcome === 'postponed' && !unavailableSince);
    deps.log[isWarning ? 'warn' : 'debug']({ ...getLogFields(claimed.run), outcome, reason }, 'run settled');
    if (outcome === 'void') removeJobOnCompletion(job);
    if (outcome === 'handed_back' || outcome === 'postponed') return delayJob(job, token, until);
    if (outcome === 'retry') throw new Error(reason);
    if (outcome === 'failed') throw new UnrecoverableError(reason);
    return outcome;
  }

  return (job: CrawlJob, token: string | undefined): Promise<RunOutcome> => {
    const { traceparent: parent, connector, kind } = job.data;
    const attributes = { 'platform.connector': connector, 'platform.job': kind };
    return withSpan({ name: 'crawl', parent, attributes }, () => run(job, token));
  };
}

/** Starts one worker per connector type, so that a slow type never delays another. */
export function startCrawlWorkers(
  queueBackend: QueueBackend,
  processor: ReturnType<typeof createProcessor>,
  options: { readonly concurrency: number; readonly stalledIntervalMs: number; readonly log: Logger },
): CrawlWorker[] {
  const workerOptions: Omit<WorkerOptions, 'connection'> = {
    concurrency: options.concurrency,
    settings: repeatSettings,
    stalledInterval: options.stalledIntervalMs,
    lockDuration: options.stalledIntervalMs,
    // The run's row counts how often it has lost its worker, for every kind of loss.
    maxStalledCount: 1_000,
    runRetryDelay: 1_000,
    drainDelay: 5,
  };
  const reportError = createErrorReporter(options.log, 'Queue worker error');
  return connectors.map((connector) => {
    const worker = queueBackend.worker(toQueueName(connector), processor, workerOptions);
    worker.on('error', reportError);
    return worker;
  });
}
