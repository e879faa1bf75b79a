import { performance } from 'node:perf_hooks';
import { percentile } from '../runner/measurement.js';
import { type Call, callInTurn, prepareCall } from './call.js';

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** The load ends after so many seconds or requests. */
export type LoadEnd = { readonly seconds: number } | { readonly requests: number };

const CONNECTIONS = 50;

/**
 * Generates closed-loop load over keep-alive connections.
 *
 * @param calls - used in turn. Each connection starts at a different one, so that they do not all send the same at once.
 * @throws Error when a response has an unexpected status.
 */
export async function load(
  url: string,
  calls: readonly Call[],
  end: LoadEnd,
  connections = CONNECTIONS,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const prepared = calls.map((call) => prepareCall(url, call, latenciesMs));
  const startedAt = performance.now();
  const endsAt = 'seconds' in end ? startedAt + end.seconds * 1_000 : Infinity;
  // Each connection sends its first request unconditionally.
  let left = ('requests' in end ? end.requests : Infinity) - connections;
  await Promise.all(
    Array.from({ length: connections }, (_value, connection) => {
      const first = Math.floor((prepared.length / connections) * connection);
      return callInTurn(url, prepared, (now) => now < endsAt && (left -= 1) >= 0, first);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  return { requestsPerSecond: latenciesMs.length / seconds, p99Ms: percentile(latenciesMs, 0.99) };
}

/** Repeats an action, several at a time, until the time is over. @returns how often it was done per second. */
export async function repeat(
  action: (worker: number) => Promise<unknown>,
  concurrency: number,
  seconds: number,
): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let count = 0;
  const work = async (_value: unknown, worker: number) => {
    for (; performance.now() < endsAt; count += 1) await action(worker);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return (count * 1_000) / (performance.now() - startedAt);
}

/** Calls the action and collects how long it took, in milliseconds. */
export async function time<T>(into: number[], action: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await action();
  into.push(performance.now() - startedAt);
  return result;
}
