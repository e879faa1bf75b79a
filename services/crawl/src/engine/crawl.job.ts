import { connectors } from '@platform/events';
import { type Clock, type Logger, withSpan } from '@platform/service-kit';
import { DelayedError, UnrecoverableError, type WorkerOptions } from 'bullmq';
import type { RunClaim } from '../db/claimed-runs.js';
import { toQueueName } from '../domain/connectors.js';
import type { CrawlWorker, QueueBackend } from '../queue/backend.js';
import { createErrorReporter } from '../queue/error-reporter.js';
import type { CrawlJob } from '../queue/job.js';
import { repeatSettings } from '../queue/queues.js';
import type { ActiveRuns } from './active-runs.js';
import { createAttemptTimer } from './attempt-timer.js';
import type { ClaimedRun } from './claim-run.js';
import { ACCEPTED_PROGRESS, createProgress, toRunProgress } from './progress.js';
import { retryTransient } from './retry-transient.js';
import { describeWait, type RunLifecycle } from './run-lifecycle.js';
import { type Task, type TaskOrder, EndpointUnavailable, RunStopped } from './tasks/task.js';

/** Added to the end of a lease, as its holder's clock may be a little behind. */
const DEFERRED_MARGIN_MS = 1_000;

export type RunOutcome = 'completed' | 'failed' | 'retry' | 'postponed' | 'handed_back' | 'void';

export interface CrawlJobDeps {
  readonly lifecycle: RunLifecycle;
  readonly activeRuns: ActiveRuns;
  readonly getTask: (connector: ClaimedRun['run']['connector']) => Task;
  readonly saveProgress: (run: RunClaim, progress: number) => Promise<unknown>;
  readonly saveEndpointState: (
    run: RunClaim,
    wait: { readonly reason: string; readonly since: Date } | null,
  ) => Promise<unknown>;
  /** Stores where the remote task of a run can be cancelled; null once it has been. */
  readonly saveTaskLocation: (run: RunClaim, location: string | null) => Promise<unknown>;
  readonly mayCancelAttempt: (run: ClaimedRun['run']) => Promise<boolean>;
  /** How long the endpoint may be unavailable in an attempt before the attempt fails. */
  readonly endpointGraceMs: number;
  readonly onOutcome: (connector: string, outcome: RunOutcome, seconds: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the process shuts down. */
  readonly stopping: AbortSignal;
}

const toOrder = ({ run, schedule }: ClaimedRun): TaskOrder => ({
  runId: run.id,
  attempt: run.attempts,
  orgId: run.orgId,
  connector: run.connector,
  userId: schedule.userId,
  scheduleConfig: schedule.config,
  priority: schedule.priority,
  metadata: schedule.metadata ?? {},
  scheduledFor: run.scheduledFor.toISOString(),
});

/**
 * The id that connects the log lines of a run, and of the endpoint that it calls, with the request that asked for it.
 */
const getRequestId = ({ id, requestId }: Pick<ClaimedRun['run'], 'id' | 'requestId'>): string =>
  requestId ?? id;

const getIds = (run: ClaimedRun['run']) => ({
  requestId: getRequestId(run),
  runId: run.id,
  connector: run.connector,
  orgId: run.orgId,
});

/** Returns what is left of the grace period, as the endpoint may have been unavailable before it accepted the task. */
function getGraceLeft(
  { clock, endpointGraceMs }: CrawlJobDeps,
  { unavailableSince }: ClaimedRun['run'],
): number {
  const unavailableForMs = unavailableSince === null ? 0 : clock() - unavailableSince.getTime();
  return Math.min(endpointGraceMs, Math.max(0, endpointGraceMs - unavailableForMs));
}

/** Resolves when the task does; rejects when the task fails or the run is stopped, whichever comes first. */
async function runTask(deps: CrawlJobDeps, claimed: ClaimedRun): Promise<void> {
  const { run, schedule } = claimed;
  const abort = deps.activeRuns.add(run);
  const progress = createProgress((percent) => deps.saveProgress(run, percent));
  let unavailableReason = '';
  const budgetsMs = { work: schedule.timeoutMs, unavailable: getGraceLeft(deps, run) };
  const timer = createAttemptTimer(budgetsMs, (budget) => {
    const graceS = Math.round(deps.endpointGraceMs / 1_000);
    const reason =
      budget === 'work'
        ? `Timed out after ${schedule.timeoutMs} ms`
        : `${unavailableReason}, away for ${graceS} s in all`;
    abort.abort(new RunStopped(budget === 'work' ? 'timeout' : 'unavailable', reason));
  });
  const storeEndpointState = (wait: { readonly reason: string; readonly since: Date } | null): void => {
    // This is only shown to users: the task does not depend on it.
    void deps.saveEndpointState(run, wait).catch(() => undefined);
  };
  const storeTaskLocation = (location: string | null): void => {
    // If the worker is lost, the reconciler uses the location to cancel the task.
    void retryTransient(() => deps.saveTaskLocation(run, location), deps.stopping).catch(() => undefined);
  };
  try {
    abort.signal.throwIfAborted();
    const stopped = new Promise<never>((_resolve, reject) => {
      abort.signal.addEventListener('abort', () => {
        reject(abort.signal.reason as RunStopped);
      });
    });
    const task = deps.getTask(run.connector)(toOrder(claimed), {
      signal: abort.signal,
      deadline: new Date(deps.clock() + schedule.timeoutMs).toISOString(),
      requestId: getRequestId(run),
      accepted: (location) => {
        progress.report(ACCEPTED_PROGRESS);
        if (location !== undefined) storeTaskLocation(location);
        if (run.unavailableSince !== null) storeEndpointState(null);
      },
      cancelled: () => {
        storeTaskLocation(null);
      },
      progress: (percent) => {
        progress.report(toRunProgress(percent));
      },
      // When in doubt the task is left running: a task without a run does less harm than a run without its task.
      mayCancel: () => retryTransient(() => deps.mayCancelAttempt(run), deps.stopping).catch(() => false),
      unavailable: (reason) => {
        unavailableReason = reason;
        const since = new Date(deps.clock());
        storeEndpointState({ reason: describeWait(since, reason), since });
        deps.log.info({ ...getIds(run), reason }, "a task's endpoint is unavailable");
        return timer.spend('unavailable');
      },
      available: () => {
        timer.spend('work');
        storeEndpointState(null);
        deps.log.info(getIds(run), "a task's endpoint is available again");
      },
    });
    await Promise.race([task, stopped]);
  } finally {
    timer.stop();
    progress.stop();
    deps.activeRuns.remove(abort);
  }
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
    deps.log[isWarning ? 'warn' : 'debug']({ ...getIds(claimed.run), outcome, reason }, 'run settled');
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
export function startWorkers(
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
