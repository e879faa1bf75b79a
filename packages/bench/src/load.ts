import { performance } from 'node:perf_hooks';
import { callInTurn, prepareCall } from './call.js';
import { percentile } from './suite.js';

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  /** The load ends after this many seconds or after `requests`. */
  readonly seconds?: number;
  readonly requests?: number;
  /** Used in turn. Without any, no `Authorization` header is sent. */
  readonly bearers?: readonly string[];
  readonly expected?: number;
  /** Default: 50. */
  readonly connections?: number;
  /** Sent with POST. Without one, the requests are GET. */
  readonly body?: object;
  /** Sent with POST in place of a body. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The clients' addresses that a proxy would report, used in turn. */
  readonly addresses?: readonly string[];
}

const CONNECTIONS = 50;

/**
 * Generates closed-loop load over keep-alive connections.
 *
 * @throws Error when a response has an unexpected status.
 */
export async function load(address: string, options: LoadOptions): Promise<LoadResult> {
  const { seconds = Infinity, requests = Infinity, connections = CONNECTIONS } = options;
  const { bearers = [], addresses = [undefined], body, form, headers = {}, expected = 200 } = options;
  const url = new URL(address);
  const latenciesMs: number[] = [];
  const requestFrom = (client: string | undefined, bearer: string | undefined) =>
    prepareCall(
      url,
      {
        path: url.pathname,
        bearer,
        body,
        form,
        headers: { ...headers, ...(client !== undefined && { 'x-forwarded-for': client }) },
        expected,
      },
      latenciesMs,
    );
  const calls = (bearers.length === 0 ? [undefined] : bearers).flatMap((bearer) =>
    addresses.map((client) => requestFrom(client, bearer)),
  );
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  // Each connection sends its first request unconditionally.
  let left = requests - connections;
  // Each connection starts at a different position in the list, so that they do not all use the same token at once.
  const offset = (connection: number) => Math.floor((calls.length / connections) * connection);
  await Promise.all(
    Array.from({ length: connections }, (_value, index) =>
      callInTurn(url, calls, (now) => now < endsAt && (left -= 1) >= 0, offset(index)),
    ),
  );
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  return { requestsPerSecond: latenciesMs.length / tookSeconds, p99Ms: percentile(latenciesMs, 0.99) };
}
