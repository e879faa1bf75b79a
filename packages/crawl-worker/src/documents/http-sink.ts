import { setTimeout as delay } from 'node:timers/promises';
import { readRetryAfter, toPauseMs } from '@platform/service-kit/platform-response';
import type { SerialisedLine, Sink } from './sink.js';

const REQUEST_TIMEOUT_MS = 60_000;
/** How long a busy or unreachable endpoint is retried. The attempt fails after that, and the platform retries it. */
const PATIENCE_MS = 5 * 60_000;
const MAX_REASON_CHARACTERS = 500;

/** Posts batches to the ingest endpoint of a search, and waits as long as it says that it is busy (429, 503). */
export function createHttpSink({ url, token }: { readonly url: string; readonly token: string }): Sink {
  async function post(lines: readonly SerialisedLine[], signal: AbortSignal): Promise<void> {
    const body = lines.map(({ json }) => `${json}\n`).join('');
    const until = performance.now() + PATIENCE_MS;
    for (let failures = 1; ; failures += 1) {
      signal.throwIfAborted();
      const outcome = await send(body, signal);
      if (outcome === 'stored') return;
      if (outcome.status === 413 && lines.length > 1) {
        const half = Math.ceil(lines.length / 2);
        await post(lines.slice(0, half), signal);
        return post(lines.slice(half), signal);
      }
      const isTransient = [0, 408, 425, 429].includes(outcome.status) || outcome.status >= 500;
      if (!isTransient || performance.now() > until) throw new Error(outcome.reason);
      await delay(toPauseMs(failures, outcome.retryAfterMs), undefined, { signal });
    }
  }

  async function send(body: string, signal: AbortSignal) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body,
        // It is an answer: documents and token are for this address.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      const text = (await response.text()).slice(0, MAX_REASON_CHARACTERS);
      if (response.ok) return 'stored';
      return {
        status: response.status,
        reason: `The sink answered ${response.status}: ${text}`,
        retryAfterMs: readRetryAfter(response.headers.get('retry-after') ?? undefined),
      };
    } catch (error) {
      signal.throwIfAborted();
      const { message, cause } = error as Error;
      const reason = cause instanceof Error ? `${message} (${cause.message})` : message;
      return { status: 0, reason: `The sink cannot be reached: ${reason}` };
    }
  }

  return { write: post };
}
