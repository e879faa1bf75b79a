import { openFixture } from '../../fixture.js';
import { type BenchIdentity, startBenchIdentity } from '../../identity.js';
import { type ServiceProcess, startBaseline } from '../../service-process.js';
import type { SuiteOptions } from '../../suite.js';
import { fill } from './dataset.js';

export const ME = '/api/v1/users/me';

const thousand = { organisations: 1, members: 100, tokens: 0, used: 1_000 };
/** 100,000 members and 1,000,000 tokens in ten organisations of the same size. */
export const million = { organisations: 10, members: 10_000, tokens: 100_000, used: 10_000 };
/** Both identities get the same load. The cost of a larger working set is a separate figure. */
export const USED_AT_ONCE = thousand.used;
/** The largest number of ranges; the load comes from an address in the last one. */
const ALLOW_LIST = [
  ...Array.from({ length: 19 }, (_value, index) =>
    index % 2 ? `2001:db8:${index}::/48` : `10.${index}.0.0/16`,
  ),
  '127.0.0.0/8',
];

/*
 * Two identity services, one with a thousand tokens and one with a million, and a bare Fastify server as the baseline.
 * They share one core; PostgreSQL and the load generator share the other.
 */
export interface Environment {
  readonly small: BenchIdentity;
  readonly large: BenchIdentity;
  readonly baseline: ServiceProcess;
  readonly smallTokens: readonly string[];
  /** Tokens of the same database, each with an allow list of 20 ranges. */
  readonly listedTokens: readonly string[];
  readonly largeTokens: readonly string[];
}

async function createTokens(identity: BenchIdentity, count: number, allowList?: readonly string[]) {
  const tokens = await identity.createTokens(count, undefined, allowList);
  return tokens.map(({ accessToken }) => accessToken);
}

export const prepare = (progress: SuiteOptions['progress'], isLargeNeeded: boolean) =>
  openFixture(
    async ({ postgres, keep }): Promise<Environment> => {
      const small = keep(await startBenchIdentity(postgres, 'bench_thousand'));
      const large = isLargeNeeded ? keep(await startBenchIdentity(postgres, 'bench_million')) : small;
      progress('creating the tokens of the load through the API');
      const smallTokens = await createTokens(small, thousand.used);
      const listedTokens = await createTokens(small, thousand.used, ALLOW_LIST);
      await fill(small.databaseUrl, thousand);
      const largeTokens = isLargeNeeded ? await createTokens(large, million.used) : smallTokens;
      if (isLargeNeeded) {
        progress('filling a database with 1,000,000 tokens of 100,000 members');
        await fill(large.databaseUrl, million);
      }
      return { small, large, baseline: keep(await startBaseline()), smallTokens, listedTokens, largeTokens };
    },
    { shared_buffers: '512MB', max_wal_size: '4GB' },
  );
