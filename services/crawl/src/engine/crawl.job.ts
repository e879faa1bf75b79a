import { type Connector, connectors } from '@platform/events';
import { type Logger, withSpan } from '@platform/service-kit';
import { toQueueName } from '../domain/connectors.js';
import type { CrawlWorker, QueueBackend } from '../queue/backend.js';
import { createErrorReporter } from '../queue/error-reporter.js';
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
 * Creates the processor of every queue. A job says that a connector has work. Which run that is, its claim says: the
 * processor claims and does one run after the other until there is none, or no free place. Whatever becomes of a run, its row
 * says so by then.
 */
export function createProcessor(deps: CrawlJobDeps) {
  const { lifecycle, stopping, clock, activeRuns } = deps;

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

  async function perform(run: ClaimedRun['run']): Promise<void> {
    const { connector, unavailableSince } = run;
    const startedAt = clock();
    const { outcome, reason } = await settle({ run, taskLocation: undefined });
    deps.onOutcome(connector, outcome, (clock() - startedAt) / 1_000);
    const isWarning =
      outcome === 'failed' || outcome === 'retry' || (outcome === 'postponed' && !unavailableSince);
    deps.log[isWarning ? 'warn' : 'debug']({ ...getLogFields(run), outcome, reason }, 'run settled');
    if (outcome === 'failed' || outcome === 'retry' || outcome === 'postponed') deps.onDue();
  }

  return async (connector: Connector): Promise<void> => {
    while (!activeRuns.isStopped()) {
      const run = await retryTransient(() => lifecycle.claim(connector), stopping);
      if (!run) return;
      const parent = run.parameters.traceparent ?? undefined;
      const attributes = { 'platform.connector': connector };
      await withSpan({ name: 'crawl', parent, attributes }, () => perform(run));
    }
  };
}

/** Starts one worker per connector type, so that a slow type never delays another. */
export function startCrawlWorkers(
  queueBackend: QueueBackend,
  process: ReturnType<typeof createProcessor>,
  options: { readonly concurrency: number; readonly log: Logger },
): CrawlWorker[] {
  const reportError = createErrorReporter(options.log, 'Queue worker error');
  return connectors.map((connector) => {
    const processor = () =>
      process(connector).catch((error: unknown) => {
        // A failed job leaves no trace in the queue. Another one follows within a second.
        reportError(error as Error);
        throw error;
      });
    const worker = queueBackend.worker(toQueueName(connector), processor, {
      concurrency: options.concurrency,
      runRetryDelay: 1_000,
    });
    worker.on('error', reportError);
    return worker;
  });
}
