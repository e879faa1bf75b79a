import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { RunStopped } from '../runs/active-runs.js';
import { callEndpoint, type EndpointAnswer, type EndpointRequest } from './endpoint-call.js';
import type { Task, TaskContext, TaskOrder } from './task.js';

/*
 * A crawl done by the connector's own HTTP endpoint.
 *
 *   POST <endpoint>            the order as JSON. `Idempotency-Key` names run and attempt: taken
 *                              from another worker, the same order is posted again, byte for byte
 *                              (its deadline, which moves, is in `X-Run-Deadline`); a retry is a new one
 *     200, 204                 done
 *     202 + Location           under way; the location, of the same origin, tells how far
 *     anything else            failed
 *   GET <location>             until done; as often as `Retry-After` says, within limits
 *     200 {state: "running" | "completed" | "failed", progress?: 0–100, reason?}
 *   DELETE <location>          the run was paused, removed or took too long; not when it is handed
 *                              over: whoever takes it up hears of the same task
 *
 * Every request carries crawl's own short-lived service credential. What the endpoint says is not
 * believed further than it must be: progress never goes back or past what is not yet complete, an
 * unknown state fails the run, a location elsewhere is refused before anything is sent there.
 */

const POLL_MS = 1_000;
const POLL_MIN_MS = 100;
const POLL_MAX_MS = 30_000;
/** Status questions may fail so often in a row before the run does. */
const FAULTS_MAX = 5;
const CANCEL_TIMEOUT_MS = 2_000;
const REASON_LENGTH_MAX = 500;

export interface HttpTaskDeps {
  readonly dispatcher: Dispatcher;
  readonly serviceToken: () => Promise<string>;
}

interface Progress {
  readonly state: 'running' | 'completed' | 'failed';
  readonly progress: number | undefined;
  readonly reason: string;
}

/** @throws Error for an answer that means nothing. */
function readProgress({ status, body }: EndpointAnswer): Progress {
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
      typeof reason === 'string' && reason !== '' ? reason.slice(0, REASON_LENGTH_MAX) : 'The task failed',
  };
}

/** @throws Error when the location isn't of the endpoint's own origin. */
function statusUrlOf(endpoint: URL, location: string | undefined): URL {
  if (location === undefined) throw new Error('The endpoint answered 202 without a Location to follow');
  if (!URL.canParse(location, endpoint.href))
    throw new Error('The endpoint answered with a Location that is no URL');
  const url = new URL(location, endpoint);
  if (url.origin !== endpoint.origin)
    throw new Error('The endpoint answered with a Location of another origin');
  return url;
}

export function createHttpTask(endpoint: URL, { dispatcher, serviceToken }: HttpTaskDeps): Task {
  type Method = 'GET' | 'POST' | 'DELETE';
  async function call(
    method: Method,
    url: URL,
    runId: string,
    signal: AbortSignal,
    given?: EndpointRequest['order'],
  ): Promise<EndpointAnswer> {
    const token = await serviceToken();
    return callEndpoint(dispatcher, {
      method,
      url,
      token,
      runId,
      signal,
      ...(given && { order: given }),
    });
  }

  async function follow(
    order: TaskOrder,
    statusUrl: URL,
    { signal, progress }: TaskContext,
    firstWaitMs: number | undefined,
  ) {
    let waitMs = firstWaitMs ?? POLL_MS;
    for (let faults = 0; ;) {
      await delay(Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, waitMs)), undefined, { signal });
      try {
        const answer = await call('GET', statusUrl, order.runId, signal);
        const told = readProgress(answer);
        faults = 0;
        waitMs = answer.retryAfterMs ?? POLL_MS;
        if (told.progress !== undefined) progress(told.progress);
        if (told.state === 'completed') return;
        if (told.state === 'failed') throw new TaskFailed(told.reason);
      } catch (error) {
        faults += 1;
        if (error instanceof TaskFailed || signal.aborted || faults >= FAULTS_MAX) throw error;
      }
    }
  }

  /** Best effort: an endpoint that does not hear of it finds a run that nobody asks about. */
  async function cancel(order: TaskOrder, statusUrl: URL): Promise<void> {
    await call('DELETE', statusUrl, order.runId, AbortSignal.timeout(CANCEL_TIMEOUT_MS)).catch(
      () => undefined,
    );
  }

  return async (order, context) => {
    const { deadline, ...told } = order;
    const answer = await call('POST', endpoint, order.runId, context.signal, {
      body: JSON.stringify(told),
      idempotencyKey: `${order.runId}-${order.attempt}`,
      deadline,
    });
    if (answer.status === 200 || answer.status === 204) {
      context.accepted();
      return;
    }
    if (answer.status !== 202) throw new Error(`The endpoint answered ${answer.status}`);
    const statusUrl = statusUrlOf(endpoint, answer.location);
    context.accepted();
    try {
      await follow(order, statusUrl, context, answer.retryAfterMs);
    } catch (error) {
      if (!(error instanceof TaskFailed) && !isHandedOver(context.signal)) await cancel(order, statusUrl);
      throw error;
    }
  };
}

const isHandedOver = ({ reason }: AbortSignal): boolean =>
  reason instanceof RunStopped && reason.reason === 'shutdown';

/** The endpoint says so itself: there is nothing to cancel. */
class TaskFailed extends Error {
  override readonly name = 'TaskFailed';
}
