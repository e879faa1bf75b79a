import { setTimeout as delay } from 'node:timers/promises';
import {
  type CallContext,
  type CallInput,
  type CallResult,
  type CrawlClient,
  type CrawlOperations,
  ServiceFault,
  type ServiceFaultKind,
} from '@platform/clients';
import { toCallContext } from './call-context.js';
import type { ToolContext } from './tool.js';
import type { Waits } from './waits.js';

type RunPath = CallInput<CrawlOperations['listRunsOfInstance']>['path'];
type Run = CallResult<CrawlOperations['listRunsOfInstance']>['data'][number];

const POLL_MS = 1_000;
/** Progress is reported at least this often, because clients and proxies give up after a minute of silence. */
const HEARTBEAT_MS = 10_000;
/** The longest wait of a client that doesn't receive progress notifications. */
const MAX_SILENT_WAIT_MS = 60_000;
/** The protocol requires progress to increase with each notification, heartbeats included. */
const MIN_PROGRESS_STEP = 0.001;

/** The reasons why a wait ended. */
export const waitEndReasons = ['run_ended', 'too_long', 'shutting_down'] as const;

export interface WaitResult {
  /** The last known state of the run; null when it hadn't begun. */
  readonly run: Run | null;
  readonly waitEnded: (typeof waitEndReasons)[number];
}

const finished: ReadonlySet<string> = new Set(['completed', 'failed', 'aborted', 'skipped']);

/** Creates a function that reports the progress of a run in percent, strictly increasing. */
function createReporter(context: ToolContext) {
  let reported = -1;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return async (run: Run | undefined): Promise<void> => {
    const progress = run?.progress ?? 0;
    const now = performance.now();
    if (progress <= reported && now - reportedAt < HEARTBEAT_MS) return;
    reported = Math.max(progress, reported + MIN_PROGRESS_STEP);
    reportedAt = now;
    await context.report({ progress: reported, total: 100, message: run?.outcome ?? 'scheduled' });
  };
}

/** Finds the first run that the schedule, rather than a member or a hook, has started since then. */
async function findRun(
  crawl: CrawlClient,
  path: RunPath,
  since: string,
  context: CallContext,
): Promise<Run | undefined> {
  const input = { path, query: { limit: 100 } };
  const { data } = await crawl.call('listRunsOfInstance', input, context);
  return data.findLast(
    (run) =>
      run.trigger !== 'manual' && run.trigger !== 'hook' && Date.parse(run.scheduledFor) >= Date.parse(since),
  );
}

const transientFaults: ReadonlySet<ServiceFaultKind> = new Set(['unreachable', 'timeout', 'busy', 'aborted']);

/** Returns undefined on a transient fault, so that the wait goes on. Other faults, such as a revoked credential, end it. */
async function tryFindRun(...args: Parameters<typeof findRun>): Promise<Run | undefined> {
  try {
    return await findRun(...args);
  } catch (fault) {
    if (fault instanceof ServiceFault && (transientFaults.has(fault.kind) || fault.status === 503))
      return undefined;
    throw fault;
  }
}

/**
 * Polls the next run of a schedule until it ends, with the caller's credential each time.
 *
 * @param since - when it was scheduled, in ISO 8601.
 * @param waits - bounds the wait; it is at most a minute when the client doesn't receive progress notifications.
 * @throws ServiceFault when crawl rejects the credential; AbortError when the client disconnects.
 */
export async function waitForRun(
  crawl: CrawlClient,
  { path, since, waits }: { path: RunPath; since: string; waits: Waits },
  context: ToolContext,
): Promise<WaitResult> {
  const { maxMs, stopping } = waits;
  const signal = AbortSignal.any([context.signal, stopping]);
  const callContext = { ...toCallContext(context), signal };
  const endsAt = performance.now() + (context.isStreamed ? maxMs : Math.min(maxMs, MAX_SILENT_WAIT_MS));
  const report = createReporter(context);
  let seen: Run | undefined;
  for (;;) {
    seen = (await tryFindRun(crawl, path, since, callContext)) ?? seen;
    await report(seen);
    if (seen && finished.has(seen.outcome)) return { run: seen, waitEnded: 'run_ended' };
    context.signal.throwIfAborted();
    if (stopping.aborted) return { run: seen ?? null, waitEnded: 'shutting_down' };
    if (performance.now() >= endsAt) return { run: seen ?? null, waitEnded: 'too_long' };
    // Either signal interrupts the delay; the next iteration finds out which one it was.
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
