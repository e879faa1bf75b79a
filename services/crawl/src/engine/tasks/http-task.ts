import { parseUrl } from '@platform/service-kit';
import { setTimeout as delay } from 'node:timers/promises';
import {
  callEndpoint,
  type EndpointAccess,
  type EndpointResponse,
  type EndpointRequest,
} from './endpoint-call.js';
import { getRetryDelayMs } from './retry-delay.js';
import { type Task, type TaskContext, type TaskOrder, EndpointUnavailable } from './task.js';

/*
 * Has a crawl done by the connector's own HTTP endpoint.
 *
 *   POST <endpoint>            the order as JSON. `Idempotency-Key` names run and attempt: a worker that
 *                              takes over the run posts the same order again, byte for byte (its deadline,
 *                              which moves, is in `X-Run-Deadline`, its lease, which each claim renews, in
 *                              `X-Run-Lease`); a retry is a new order
 *     200, 204                 done
 *     202 + Location           accepted; the location, of the same origin, reports the progress
 *     202                      accepted; the endpoint reports through the API, with the lease of the order
 *     429, 502, 503, 504       unavailable, as when the connection fails: the same order is posted again later
 *     anything else            failed
 *   GET <location>             polled until done, as often as `Retry-After` says, within limits
 *     200 {state: "running" | "completed" | "failed", progress?: 0–100, reason?}
 *     unavailable              polled again, for as long as the attempt waits
 *   DELETE <location>          the attempt has ended, and the endpoint did not say so: the run was paused,
 *                              removed, cancelled or timed out. Sent by task-cancellations.job.ts until
 *                              the endpoint has answered
 *
 * Every request is signed with the endpoint's secret; no credential is sent. Responses are not trusted more than
 * necessary: progress never goes back and never reaches 100 before the end, an unknown state fails the run, and a
 * location of another origin is refused before anything is sent there.
 */

const POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 30_000;
/** The attempt fails after this many failed polls in a row. */
const MAX_FAULTS = 5;
/** The endpoint is polled once more this long before an attempt stops waiting for it. */
const LAST_POLL_MS = 1_000;
const CANCEL_TIMEOUT_MS = 2_000;
const MAX_REASON_LENGTH = 500;

interface Progress {
  readonly state: 'running' | 'completed' | 'failed';
  readonly progress: number | undefined;
  readonly reason: string;
}

/** @throws Error for a response that is not valid. */
function readProgress({ status, body }: EndpointResponse): Progress {
  const { state, progress, reason } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (status !== 200) throw new Error(`The endpoint answered ${status} when asked for progress`);
  if (state !== 'running' && state !== 'completed' && state !== 'failed')
    throw new Error('The endpoint did not say whether the task is running, completed or failed');
  return {
    state,
    progress: typeof progress === 'number' && Number.isFinite(progress) ? progress : undefined,
    reason:
      typeof reason === 'string' && reason !== '' ? reason.slice(0, MAX_REASON_LENGTH) : 'The task failed',
  };
}

/** @throws Error when the location is no URL, or of another origin than the endpoint. */
export function toStatusUrl(endpoint: URL, location: string): URL {
  const url = parseUrl(location, endpoint);
  if (!url) throw new Error('The endpoint answered with a Location that is no URL');
  if (url.origin !== endpoint.origin)
    throw new Error('The endpoint answered with a Location of another origin');
  return url;
}

/** @throws Error when the request failed. The response is ignored. */
export const cancelTask = (access: EndpointAccess, url: URL, requestId: string): Promise<unknown> =>
  callEndpoint(access, { method: 'DELETE', url, requestId, signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS) });

export function createHttpTask(endpoint: URL, deps: EndpointAccess): Task {
  const { clock } = deps;
  const call = (
    method: EndpointRequest['method'],
    url: URL,
    { requestId, signal }: Pick<TaskContext, 'requestId' | 'signal'>,
    order?: EndpointRequest['order'],
  ): Promise<EndpointResponse> =>
    callEndpoint(deps, { method, url, requestId, signal, ...(order && { order }) });

  async function follow(statusUrl: URL, context: TaskContext, firstWaitMs: number | undefined) {
    const { signal } = context;
    let waitMs = firstWaitMs ?? POLL_MS;
    let faults = 0;
    let gap: { readonly since: number; readonly lastPollAt: number } | undefined;

    /** @returns whether the task is done. @throws the error that ends the attempt. */
    async function poll(): Promise<boolean> {
      const response = await call('GET', statusUrl, context);
      const task = readProgress(response);
      if (gap) context.available();
      gap = undefined;
      faults = 0;
      waitMs = response.retryAfterMs ?? POLL_MS;
      if (task.progress !== undefined) context.progress(task.progress);
      if (task.state !== 'running') context.ended();
      if (task.state === 'failed') throw new TaskFailed(task.reason);
      return task.state === 'completed';
    }

    function waitForReturn({ message, retryAfterMs }: EndpointUnavailable): void {
      const now = clock();
      gap ??= { since: now, lastPollAt: now + context.unavailable(message) - LAST_POLL_MS };
      waitMs = getRetryDelayMs(now - gap.since, retryAfterMs);
      if (now < gap.lastPollAt) waitMs = Math.min(waitMs, gap.lastPollAt - now);
    }

    for (;;) {
      await delay(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, waitMs)), undefined, { signal });
      try {
        if (await poll()) return;
      } catch (error) {
        if (error instanceof TaskFailed || signal.aborted) throw error;
        if (error instanceof EndpointUnavailable) waitForReturn(error);
        else if (++faults >= MAX_FAULTS) throw error;
      }
    }
  }

  return async (order: TaskOrder, context) => {
    const response = await call('POST', endpoint, context, {
      body: JSON.stringify(order),
      idempotencyKey: `${order.runId}-${order.attempt}`,
      deadline: context.deadline,
      lease: context.lease,
    });
    if (response.status === 200 || response.status === 204) {
      context.accepted();
      return;
    }
    if (response.status !== 202) throw new Error(`The endpoint answered ${response.status}`);
    if (response.location === undefined) {
      context.accepted();
      // The endpoint finishes the run, which stops this; otherwise the attempt times out.
      await waitForAbort(context.signal);
      return;
    }
    const statusUrl = toStatusUrl(endpoint, response.location);
    context.accepted(statusUrl.href);
    await follow(statusUrl, context, response.retryAfterMs);
  };
}

const waitForAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });

/** The endpoint reported that the task failed, so there is nothing to cancel. */
class TaskFailed extends Error {
  override readonly name = 'TaskFailed';
}
