import { setTimeout as delay } from 'node:timers/promises';
import {
  type CallContext,
  type CallResult,
  type CrawlClient,
  type CrawlOperations,
  ServiceFault,
  type ServiceFaultKind,
} from '@platform/clients';
import { toCallContext } from './call-context.js';
import type { ToolContext } from './tool.js';
import type { Waits } from './waits.js';

type Run = CallResult<CrawlOperations['listRuns']>['data'][number];

const POLL_MS = 1_000;
/** A client that hears nothing for a minute gives up, and so do proxies. */
const HEARTBEAT_MS = 10_000;
/** How long a client is kept waiting that can't be told of progress. */
const MAX_SILENT_WAIT_MS = 60_000;
/** A sign of life has to be progress, too. */
const MIN_PROGRESS_STEP = 0.001;

/** Why a wait is over. */
export const waitEndReasons = ['run_ended', 'too_long', 'shutting_down'] as const;

export interface WaitResult {
  /** As it was last seen; null when it hadn't begun by then. */
  readonly run: Run | null;
  readonly waitEnded: (typeof waitEndReasons)[number];
}

const finished: ReadonlySet<string> = new Set(['completed', 'failed', 'aborted', 'skipped']);

/** Tells the client of a run in percent, each time of a little more: the protocol asks for that. */
function createReporter(context: ToolContext) {
  let told = -1;
  let toldAt = Number.NEGATIVE_INFINITY;
  return async (run: Run | undefined): Promise<void> => {
    const progress = run?.progress ?? 0;
    const now = performance.now();
    if (progress <= told && now - toldAt < HEARTBEAT_MS) return;
    told = Math.max(progress, told + MIN_PROGRESS_STEP);
    toldAt = now;
    await context.report({ progress: told, total: 100, message: run?.outcome ?? 'scheduled' });
  };
}

/** The first run of a schedule: the oldest that it, not a member, has asked for since. */
async function findRun(
  crawl: CrawlClient,
  connector: string,
  since: string,
  context: CallContext,
): Promise<Run | undefined> {
  const input = { path: { connector }, query: { limit: 100 } };
  const { data } = await crawl.call('listRuns', input, context);
  return data.findLast(
    (run) => run.trigger !== 'manual' && Date.parse(run.scheduledFor) >= Date.parse(since),
  );
}

const momentary: ReadonlySet<ServiceFaultKind> = new Set(['unreachable', 'timeout', 'busy', 'aborted']);

/** A service that is away or busy for a moment doesn't end the wait; a refusal does: the credential may be revoked. */
async function findRunOrRetry(...args: Parameters<typeof findRun>): Promise<Run | undefined> {
  try {
    return await findRun(...args);
  } catch (fault) {
    if (fault instanceof ServiceFault && (momentary.has(fault.kind) || fault.status === 503))
      return undefined;
    throw fault;
  }
}

/**
 * Follows the next run of a schedule until it ends, with the caller's credential for every look.
 *
 * @param since - when it was scheduled, ISO 8601.
 * @param waits - how long at most; a minute where the client can't be told of progress.
 * @throws ServiceFault when crawl refuses the credential; an AbortError when the client goes away.
 */
export async function waitForRun(
  crawl: CrawlClient,
  { connector, since, waits }: { connector: string; since: string; waits: Waits },
  context: ToolContext,
): Promise<WaitResult> {
  const { maxMs, stopping } = waits;
  const signal = AbortSignal.any([context.signal, stopping]);
  const callContext = { ...toCallContext(context), signal };
  const endsAt = performance.now() + (context.isStreamed ? maxMs : Math.min(maxMs, MAX_SILENT_WAIT_MS));
  const report = createReporter(context);
  let seen: Run | undefined;
  for (;;) {
    seen = (await findRunOrRetry(crawl, connector, since, callContext)) ?? seen;
    await report(seen);
    if (seen && finished.has(seen.outcome)) return { run: seen, waitEnded: 'run_ended' };
    context.signal.throwIfAborted();
    if (stopping.aborted) return { run: seen ?? null, waitEnded: 'shutting_down' };
    if (performance.now() >= endsAt) return { run: seen ?? null, waitEnded: 'too_long' };
    // Cut short by either signal, of which the next round tells the difference.
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
