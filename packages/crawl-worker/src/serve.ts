import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isTransient, toPauseMs } from '@platform/service-kit/platform-response';
import { type ClaimedRun, createPost, getRetryAfterMs, type Post } from './protocol.js';
import { type Crawl, performRun } from './run.js';

export interface ServeOptions {
  /** The base URL of the platform. */
  readonly url: string;
  /** A token with the scope `crawl:work`. */
  readonly token: string;
  /** The connectors whose runs this worker claims, one run at a time. */
  readonly connectors: readonly string[];
  /** The instances whose runs it claims. Default: all of them. */
  readonly instances?: readonly string[];
  readonly crawl: Crawl;
  /** The name of this worker on the page of a run. Default: host name and process id. */
  readonly worker?: string;
  /** Stops the worker. Default: SIGTERM or SIGINT. */
  readonly signal?: AbortSignal;
  /** Called with each error that does not end the worker. Default: prints it to standard error. */
  readonly onError?: (message: string) => void;
}

const WAIT_MS = 25_000;
const CLAIM_TIMEOUT_MS = WAIT_MS + 10_000;

/**
 * Claims runs and crawls them until it is stopped, and then releases the current run for another worker.
 *
 * @throws RequestError when the platform rejects the token or the connectors.
 */
export async function serve(options: ServeOptions): Promise<void> {
  if (options.signal) return serveUntil(options.signal, options);
  const controller = new AbortController();
  const names = ['SIGTERM', 'SIGINT'] as const;
  const unlisten = () => {
    for (const name of names) process.off(name, stop);
  };
  // A second signal ends the process, as nothing handles it any more.
  const stop = () => {
    unlisten();
    controller.abort();
  };
  for (const name of names) process.on(name, stop);
  try {
    await serveUntil(controller.signal, options);
  } finally {
    unlisten();
  }
}

async function serveUntil(signal: AbortSignal, options: ServeOptions): Promise<void> {
  const { crawl, onError = (message) => process.stderr.write(`${message}\n`) } = options;
  const post = createPost(options);
  let failures = 0;
  while (!signal.aborted) {
    try {
      const claimed = await claim(post, options, signal);
      failures = 0;
      if (claimed) await performRun({ post, crawl, stopping: signal, onError }, claimed);
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      failures += 1;
      onError(`Failed to claim a run; will retry: ${describe(error)}`);
      await delay(toPauseMs(failures, getRetryAfterMs(error)), undefined, { signal }).catch(() => undefined);
    }
  }
}

async function claim(post: Post, { connectors, instances, worker }: ServeOptions, signal: AbortSignal) {
  const name = (worker ?? `${hostname()} (${process.pid})`).slice(0, 100);
  const reply = await post<ClaimedRun>(
    'claim',
    { connectors, ...(instances && { instances }), worker: name, waitMs: WAIT_MS },
    { timeoutMs: CLAIM_TIMEOUT_MS, signal },
  );
  return reply.body && { ...reply.body, toLocal: reply.toLocal };
}

const describe = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
};
