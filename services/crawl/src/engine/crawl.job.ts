import { connectors } from '@platform/events';
import { type Logger, withSpan } from '@platform/service-kit';
import { UnrecoverableError, type WorkerOptions } from 'bullmq';
import { toQueueName } from '../domain/connectors.js';
import type { CrawlWorker, QueueBackend } from '../queue/backend.js';
import { createErrorReporter } from '../queue/error-reporter.js';
import type { CrawlJob } from '../queue/job.js';
import type { ClaimedRun } from './claimed-run.js';
import { retryTransient } from './retry-transient.js';
import type { RunLifecycle } from './run-lifecycle.js';
import { getLogFields, runTask, type RunTaskDeps } from './run-task.js';
import { EndpointUnavailable, RunStopped } from './tasks/task.js';

export type RunOutcome = 'completed' | 'failed' | 'retry' | 'postponed' | 'handed_back' | 'void';

export interface CrawlJobDeps extends RunTaskDeps {
  readonly lifecycle: RunLifecycle;
  readonly onOutcome: (connector: string, outcome: RunOutcome, seconds: number) => void;
  /** Called after an attempt that leaves a task to be cancelled, or a run that is due again. */
  readonly onDue: () => void;
}

function toReason(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'The task failed';
}

/**
 * Creates the processor of every queue. A job is one delivery of a run: whatever becomes of it, the row of the run says
 * so by then, and the dispatcher delivers the run again when it is due.
 */
export function createProcessor(deps: CrawlJobDeps) {
  const { lifecycle, stopping, clock } = deps;

  async function settle(claimed: ClaimedRun): Promise<{ outcome: RunOutcome; reason?: string }> {
    const { run } = claimed;
    try {
      await runTask(deps, claimed);
    } catch (error) {
      const reason = toReason(error);
      if (error instanceof EndpointUnavailable)
        return { outcome: await retryTransient(() => lifecycle.postpone(run, error), stopping), reason };
      if (error instanceof RunStopped && error.reason === 'ended') return { outcome: 'void' };
      if (error instanceof RunStopped && error.reason === 'shutdown') {
        await retryTransient(() => lifecycle.handBack(run), stopping);
        return { outcome: 'handed_back' };
      }
      const fail = () => lifecycle.fail(run, reason, { location: claimed.taskLocation });
      return { outcome: await retryTransient(fail, stopping), reason };
    }
    return {
      outcome: (await retryTransient(() => lifecycle.complete(run), stopping)) ? 'completed' : 'void',
    };
  }

  async function deliver({ data, opts }: CrawlJob): Promise<RunOutcome> {
    const claim = { id: data.runId, claimCount: data.claimCount };
    const row = await retryTransient(() => lifecycle.claim(claim), stopping).catch((error: unknown) => {
      // The run still waits under this job's id: as long as the queue keeps the job, it could not be delivered again.
      opts.removeOnFail = true;
      throw error;
    });
    if (!row) {
      // A job that did nothing is kept out of the queue's history.
      opts.removeOnComplete = true;
      return 'void';
    }
    const startedAt = clock();
    const { outcome, reason } = await settle({ run: row, taskLocation: undefined });
    const { connector, unavailableSince } = row;
    deps.onOutcome(connector, outcome, (clock() - startedAt) / 1_000);
    const isWarning =
      outcome === 'failed' || outcome === 'retry' || (outcome === 'postponed' && !unavailableSince);
    deps.log[isWarning ? 'warn' : 'debug']({ ...getLogFields(row), outcome, reason }, 'run settled');
    if (outcome === 'void') opts.removeOnComplete = true;
    if (outcome === 'failed' || outcome === 'retry' || outcome === 'postponed') deps.onDue();
    if (outcome === 'failed') throw new UnrecoverableError(reason);
    return outcome;
  }

  return (job: CrawlJob): Promise<RunOutcome> => {
    const { traceparent: parent, connector } = job.data;
    const attributes = { 'platform.connector': connector };
    return withSpan({ name: 'crawl', parent, attributes }, () => deliver(job));
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
    stalledInterval: options.stalledIntervalMs,
    lockDuration: options.stalledIntervalMs,
    // The job of a lost worker does nothing when it is delivered again: the run's row counts how often it lost its worker.
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
