import type { Clock, Logger } from '@platform/service-kit';
import type { RunClaim } from '../db/claimed-runs.js';
import type { ActiveRuns } from './active-runs.js';
import { createAttemptTimer } from './attempt-timer.js';
import type { ClaimedRun } from './claimed-run.js';
import { ACCEPTED_PROGRESS, toRunProgress } from '../domain/run-progress.js';
import { createProgress } from './progress.js';
import { retryTransient } from './retry-transient.js';
import { describeWait } from './run-lifecycle.js';
import { RunStopped, type Task, type TaskOrder } from './tasks/task.js';

/** An attempt that another worker continues may ask its endpoint once more, even if its time is over. */
const MIN_WORK_MS = 2_000;

export interface RunTaskDeps {
  readonly activeRuns: ActiveRuns;
  readonly getTask: (run: ClaimedRun['run']) => Task;
  readonly saveProgress: (run: RunClaim, progress: number) => Promise<unknown>;
  readonly saveEndpointState: (
    run: RunClaim,
    wait: { readonly reason: string; readonly since: Date } | null,
  ) => Promise<unknown>;
  /** Stores where the remote task of a run can be cancelled. */
  readonly saveTaskLocation: (run: RunClaim, location: string) => Promise<unknown>;
  /** The time for which the endpoint may be unavailable in an attempt before the attempt fails. */
  readonly endpointGraceMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the process shuts down. */
  readonly stopping: AbortSignal;
}

const toOrder = ({ run }: ClaimedRun): TaskOrder => ({
  runId: run.id,
  attempt: run.attempts,
  orgId: run.orgId,
  connector: run.connector,
  instance: run.instance,
  displayName: run.parameters.displayName,
  userId: run.parameters.userId,
  scheduleConfig: run.parameters.config,
  priority: run.parameters.priority,
  metadata: run.parameters.metadata ?? {},
  scheduledFor: run.scheduledFor.toISOString(),
  mode: run.mode,
});

/**
 * The id that connects the log lines of a run, and of the endpoint that it calls, with the request that asked for it.
 */
const getRequestId = ({ id, requestId }: Pick<ClaimedRun['run'], 'id' | 'requestId'>): string =>
  requestId ?? id;

/** Returns the fields that every log line of a run has. */
export const getLogFields = (run: ClaimedRun['run']) => ({
  requestId: getRequestId(run),
  runId: run.id,
  connector: run.connector,
  instance: run.instance,
  orgId: run.orgId,
});

/** Returns what is left of the grace period, as the endpoint may have been unavailable before it accepted the task. */
function getGraceLeft(
  { clock, endpointGraceMs }: RunTaskDeps,
  { unavailableSince }: ClaimedRun['run'],
): number {
  const unavailableForMs = unavailableSince === null ? 0 : clock() - unavailableSince.getTime();
  return Math.min(endpointGraceMs, Math.max(0, endpointGraceMs - unavailableForMs));
}

/** Resolves when the task does; rejects when the task fails or the run is stopped, whichever comes first. */
export async function runTask(deps: RunTaskDeps, claimed: ClaimedRun): Promise<void> {
  const { run } = claimed;
  const { timeoutMs } = run.parameters;
  const deadline = run.deadlineAt ?? new Date(deps.clock() + timeoutMs);
  const abort = deps.activeRuns.add(run);
  const progress = createProgress((percent) => deps.saveProgress(run, percent));
  let unavailableReason = '';
  const workMs = Math.min(timeoutMs, Math.max(MIN_WORK_MS, deadline.getTime() - deps.clock()));
  const budgetsMs = { work: workMs, unavailable: getGraceLeft(deps, run) };
  const timer = createAttemptTimer(budgetsMs, (budget) => {
    const graceS = Math.round(deps.endpointGraceMs / 1_000);
    const reason =
      budget === 'work'
        ? `Timed out after ${timeoutMs} ms`
        : `${unavailableReason}, unavailable for ${graceS} s in total`;
    abort.abort(new RunStopped(budget === 'work' ? 'timeout' : 'unavailable', reason));
  });
  const storeEndpointState = (wait: { readonly reason: string; readonly since: Date } | null): void => {
    // This is only shown to users: the task does not depend on it.
    void deps.saveEndpointState(run, wait).catch(() => undefined);
  };
  try {
    abort.signal.throwIfAborted();
    const stopped = new Promise<never>((_resolve, reject) => {
      abort.signal.addEventListener('abort', () => {
        reject(abort.signal.reason as RunStopped);
      });
    });
    const task = deps.getTask(run)(toOrder(claimed), {
      signal: abort.signal,
      deadline: deadline.toISOString(),
      lease: run.lease,
      requestId: getRequestId(run),
      accepted: (location) => {
        progress.report(ACCEPTED_PROGRESS);
        claimed.taskLocation = location;
        // If the worker is lost or the run is aborted, the task is cancelled there.
        if (location !== undefined)
          void retryTransient(() => deps.saveTaskLocation(run, location), deps.stopping).catch(
            () => undefined,
          );
        if (run.unavailableSince !== null) storeEndpointState(null);
      },
      ended: () => {
        claimed.taskLocation = undefined;
      },
      progress: (percent) => {
        progress.report(toRunProgress(percent));
      },
      unavailable: (reason) => {
        unavailableReason = reason;
        const since = new Date(deps.clock());
        storeEndpointState({ reason: describeWait(reason), since });
        deps.log.info({ ...getLogFields(run), reason }, "a task's endpoint is unavailable");
        return timer.spend('unavailable');
      },
      available: () => {
        timer.spend('work');
        storeEndpointState(null);
        deps.log.info(getLogFields(run), "a task's endpoint is available again");
      },
    });
    await Promise.race([task, stopped]);
  } finally {
    timer.stop();
    progress.stop();
    deps.activeRuns.remove(abort);
  }
}
