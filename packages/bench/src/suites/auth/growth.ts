import { time } from '../../load/load.js';
import { defineMeasurement, percentile } from '../../runner/measurement.js';
import type { BenchIdentity } from '../../servers/identity.js';
import { startLarge, startSmall } from './environment.js';

const TURNS = 4;
const ROUNDS = 100;
const path = '/api/v1/personal-access-tokens';
const actions = ['own list', 'admin page', 'create', 'revoke'] as const;
type Latencies = Record<(typeof actions)[number], number[]>;
const createLatencies = (): Latencies => ({ 'own list': [], 'admin page': [], create: [], revoke: [] });
const p99 = (values: readonly number[]) => percentile(values, 0.99);

/** Calls the actions one after the other: this measures latency, not throughput. */
async function measure({ call }: BenchIdentity, into: Latencies): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await time(into['own list'], () => call('GET', path));
    await time(into['admin page'], () => call('GET', `${path}/admin?limit=20`));
    const body = { name: 'latency' };
    const { token } = await time(into.create, () => call<{ token: { id: string } }>('POST', path, body));
    await time(into.revoke, () => call('DELETE', `${path}/${token.id}`, {}));
  }
}

async function measureLastPage({ call }: BenchIdentity): Promise<number[]> {
  const page = `${path}/admin?limit=100`;
  const { pagination } = await call<{ pagination: { totalPages: number } }>('GET', page);
  const readLast = () => call('GET', `${page}&page=${pagination.totalPages}`);
  // As with the other requests, the first ones are not counted: of a hundred, 99 % is the slowest.
  for (let round = 0; round < ROUNDS; round += 1) await readLast();
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) await time(tookMs, readLast);
  return tookMs;
}

export const growth = defineMeasurement({
  title: 'own list, admin page, creation and revocation with a million tokens against a thousand',
  limitSeconds: 240,
  values: {
    growth_p99: { bar: { max: 1.5 }, note: 'p99 with 1,000,000 tokens / with 1,000, worst of four requests' },
    last_admin_page: { bar: { max: 50 }, unit: 'ms', note: 'p99 of the last page of 100,000 tokens' },
  },
  async run(fixture) {
    const [small, large] = [await fixture.share(startSmall), await fixture.share(startLarge)];
    const tookMs = { small: createLatencies(), large: createLatencies() };
    for (const identity of [small, large]) await measure(identity, createLatencies());
    // The two take turns, so that a slow phase of the machine affects both.
    for (let turn = 0; turn < TURNS; turn += 1) {
      await measure(small, tookMs.small);
      await measure(large, tookMs.large);
    }
    return {
      growth_p99: Math.max(...actions.map((action) => p99(tookMs.large[action]) / p99(tookMs.small[action]))),
      last_admin_page: p99(await measureLastPage(large)),
    };
  },
});
