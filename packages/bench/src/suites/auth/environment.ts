import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import { type BenchIdentity, startBenchIdentity } from '../../identity.js';
import { type ServiceProcess, startProcess } from '../../service-process.js';
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

export async function prepare(progress: SuiteOptions['progress'], isLargeNeeded: boolean) {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  // An fsync per commit would measure the disk. Everything else is configured as in production.
  const settings = { synchronous_commit: 'off', shared_buffers: '512MB', max_wal_size: '4GB' };
  const postgres = await startEmbeddedPostgres({ dataDir, settings, isTemporary: true });
  const small = await startBenchIdentity(postgres, 'bench_thousand');
  const large = isLargeNeeded ? await startBenchIdentity(postgres, 'bench_million') : small;
  const createManyTokens = async (identity: BenchIdentity, count: number, allowList?: readonly string[]) =>
    (await identity.createTokens(count, undefined, allowList)).map(({ accessToken }) => accessToken);
  progress('creating the tokens of the load through the API');
  const smallTokens = await createManyTokens(small, thousand.used);
  const listedTokens = await createManyTokens(small, thousand.used, ALLOW_LIST);
  await fill(small.databaseUrl, { ...thousand });
  const largeTokens = isLargeNeeded ? await createManyTokens(large, million.used) : smallTokens;
  if (isLargeNeeded) {
    progress('filling a database with 1,000,000 tokens of 100,000 members');
    await fill(large.databaseUrl, million);
  }
  const baselinePort = await findFreePort();
  const baselineProgram = fileURLToPath(new URL('baseline.js', import.meta.url));
  const baseline = await startProcess([baselineProgram, String(baselinePort)], baselinePort, ME, {
    PATH: process.env.PATH,
  });
  const stop = async () => {
    await Promise.all([...new Set([small, large, baseline])].map((process) => process.stop()));
    await postgres.stop();
  };
  return { environment: { small, large, baseline, smallTokens, listedTokens, largeTokens }, stop };
}
