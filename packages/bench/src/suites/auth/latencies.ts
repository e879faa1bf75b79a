import { performance } from 'node:perf_hooks';
import { percentile } from '../../suite.js';
import { type BenchIdentity, send } from '../../identity.js';

const tokensPath = '/api/v1/personal-access-tokens';

/** The latencies of each action, in milliseconds. */
export type Latencies = Record<'own list' | 'admin page 1' | 'create' | 'revoke', number[]>;

async function time<T>(into: number[], action: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await action();
  into.push(performance.now() - startedAt);
  return result;
}

/** Calls the actions one after the other: this measures latency, not throughput. */
export async function measureLatencies({ url, session }: BenchIdentity, rounds: number): Promise<Latencies> {
  const latencies: Latencies = { 'own list': [], 'admin page 1': [], create: [], revoke: [] };
  for (let round = 0; round < rounds; round += 1) {
    await time(latencies['own list'], () => send(url + tokensPath, 'GET', session));
    await time(latencies['admin page 1'], () => send(`${url}${tokensPath}/admin?limit=20`, 'GET', session));
    const created = await time(latencies.create, () =>
      send(url + tokensPath, 'POST', session, { name: 'latency' }),
    );
    const { id } = (created.body as { token: { id: string } }).token;
    await time(latencies.revoke, () => send(`${url}${tokensPath}/${id}`, 'DELETE', session, {}));
  }
  return latencies;
}

export const p99 = (values: readonly number[]): number => percentile(values, 0.99);

/** Reads the last page of the organisation's tokens repeatedly. */
export async function measureLastPage({ url, session }: BenchIdentity, rounds: number) {
  const first = await send(`${url}${tokensPath}/admin?limit=100`, 'GET', session);
  const { total, totalPages } = (first.body as { pagination: { total: number; totalPages: number } })
    .pagination;
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    await time(took, () => send(`${url}${tokensPath}/admin?limit=100&page=${totalPages}`, 'GET', session));
  return { total, p99Ms: p99(took) };
}
