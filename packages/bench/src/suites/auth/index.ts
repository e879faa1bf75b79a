import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import { load } from '../../load.js';
import { type ServiceProcess, startProcess } from '../../service-process.js';
import {
  type Figure,
  median,
  type Ratio,
  type Suite,
  type SuiteOptions,
  type SuiteResult,
} from '../../suite.js';
import { fill } from './dataset.js';
import { type BenchIdentity, startBenchIdentity } from '../../identity.js';
import { type Latencies, measureLastPage, measureLatencies, p99 } from './latencies.js';

/*
 * Two identities, over a thousand and over a million tokens, and a bare Fastify, all on one core;
 * PostgreSQL and the load on the other. The loads take turns, three rounds, medians: a machine that
 * slows down meanwhile slows all of them.
 */
const ROUNDS = 3;
const ME = '/api/v1/users/me';
const LATENCY_ROUNDS = 400;

const thousand = { organisations: 1, members: 100, tokens: 0, used: 1_000 };
/** 100,000 members and 1,000,000 tokens in ten organisations of the same size. */
const million = { organisations: 10, members: 10_000, tokens: 100_000, used: 10_000 };

/** More than any cache remembers, so that each is met for the first time. */
const GARBAGE_COUNT = 20_000;

/** Bearers that aren't ours: opaque, half a JWT, and whole ones of another issuer's key. */
function garbageBearers(): string[] {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signature = Buffer.alloc(64, 7).toString('base64url');
  return Array.from({ length: GARBAGE_COUNT }, (_value, index) => {
    const opaque = `pat_${Buffer.from(`garbage ${index}`).toString('base64url')}`;
    if (index % 4 === 0)
      return `pat_${encode({ alg: 'EdDSA', kid: `key-${index}` })}.${encode({ sub: 'x' })}.${signature}`;
    return index % 4 === 1 ? `${opaque}.e30` : opaque;
  });
}

/** Ours but for the signature, each another: what costs an attacker least and us most. */
function forgedBearers(valid: string): string[] {
  const [header, payload, signature = ''] = valid.split('.');
  return Array.from({ length: GARBAGE_COUNT }, (_value, index) => {
    const start = index.toString(36).padStart(6, 'A');
    return `${header}.${payload}.${start}${signature.slice(start.length)}`;
  });
}

interface Setting {
  readonly small: BenchIdentity;
  readonly large: BenchIdentity;
  readonly bare: ServiceProcess;
  readonly smallTokens: readonly string[];
  readonly largeTokens: readonly string[];
}

async function prepare(progress: SuiteOptions['progress'], isLargeNeeded: boolean) {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  // The commit's fsync would measure the disk; everything else is as in production.
  const settings = { synchronous_commit: 'off', shared_buffers: '512MB', max_wal_size: '4GB' };
  const postgres = await startEmbeddedPostgres({ dataDir, settings, isTemporary: true });
  const small = await startBenchIdentity(postgres, 'bench_thousand');
  const large = isLargeNeeded ? await startBenchIdentity(postgres, 'bench_million') : small;
  const tokensOf = async (identity: BenchIdentity, count: number) =>
    (await identity.createTokens(count)).map(({ accessToken }) => accessToken);
  progress('creating the tokens of the load through the API');
  const smallTokens = await tokensOf(small, thousand.used);
  await fill(small.databaseUrl, { ...thousand });
  const largeTokens = isLargeNeeded ? await tokensOf(large, million.used) : smallTokens;
  if (isLargeNeeded) {
    progress('filling a database with 1,000,000 tokens of 100,000 members');
    await fill(large.databaseUrl, million);
  }
  const barePort = await findFreePort();
  const bareProgram = fileURLToPath(new URL('bare.js', import.meta.url));
  const bare = await startProcess([bareProgram, String(barePort)], barePort, ME, { PATH: process.env.PATH });
  const stop = async () => {
    await Promise.all([...new Set([small, large, bare])].map((process) => process.stop()));
    await postgres.stop();
  };
  return { setting: { small, large, bare, smallTokens, largeTokens }, stop };
}

async function measureThroughput(
  { small, large, bare, ...tokens }: Setting,
  options: SuiteOptions,
  isLarge: boolean,
) {
  const { seconds, progress } = options;
  const rates = {
    bare: [] as number[],
    thousand: [] as number[],
    million: [] as number[],
    garbage: [] as number[],
    forged: [] as number[],
  };
  const verifyP99Ms: number[] = [];
  const garbage = garbageBearers();
  const forged = forgedBearers(tokens.smallTokens[0] ?? '');
  progress('warming up');
  await load(bare.url + ME, { seconds: 2, bearers: tokens.smallTokens });
  await load(small.url + ME, { seconds: 3, bearers: tokens.smallTokens });
  await load(small.url + ME, { seconds: 2, bearers: garbage, expected: 401 });
  if (isLarge) await load(large.url + ME, { seconds: 5, bearers: tokens.largeTokens });
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`load, round ${round} of ${ROUNDS}`);
    // The same requests for the bare route: reading a header has its price there, too.
    rates.bare.push((await load(bare.url + ME, { seconds, bearers: tokens.smallTokens })).requestsPerSecond);
    const verified = await load(small.url + ME, { seconds, bearers: tokens.smallTokens });
    rates.thousand.push(verified.requestsPerSecond);
    verifyP99Ms.push(verified.p99Ms);
    if (isLarge)
      rates.million.push(
        (await load(large.url + ME, { seconds, bearers: tokens.largeTokens })).requestsPerSecond,
      );
    rates.garbage.push(
      (await load(small.url + ME, { seconds, bearers: garbage, expected: 401 })).requestsPerSecond,
    );
    rates.forged.push(
      (await load(small.url + ME, { seconds, bearers: forged, expected: 401 })).requestsPerSecond,
    );
  }
  const residentMib = Math.max(await large.residentPeakMib(), await small.residentPeakMib());
  return { rates, verifyP99Ms: median(verifyP99Ms), residentMib };
}

function throughputResult(
  measured: Awaited<ReturnType<typeof measureThroughput>>,
  isLarge: boolean,
): SuiteResult {
  const { rates } = measured;
  const rate = (name: keyof typeof rates, note: string): Figure => ({
    name, value: median(rates[name]), unit: 'requests/s', note,
  }); // prettier-ignore
  const bare = median(rates.bare);
  const figures = [
    rate('bare', 'bare Fastify JSON route'),
    rate('thousand', 'users/me with a token, liveness from PostgreSQL each time, 1,000 tokens'),
    ...(isLarge ? [rate('million', 'the same with 1,000,000 tokens of 100,000 members')] : []),
    rate('garbage', 'bearers that are not ours, each another'),
    rate('forged', 'ours but for the signature, each another: an Ed25519 check for each'),
    { name: 'verify_p99', value: measured.verifyP99Ms, unit: 'ms', note: 'users/me, 50 connections' },
    {
      name: 'resident',
      value: measured.residentMib,
      unit: 'MiB',
      note: 'peak of identity under all of these loads; at most 200',
    },
  ];
  const ratios: Ratio[] = [
    {
      name: 'verify_vs_bare',
      value: median(rates.thousand) / bare,
      goal: { min: 0.4 },
      note: 'thousand / bare',
    },
    {
      name: 'garbage_vs_bare',
      value: median(rates.garbage) / bare,
      goal: { min: 0.7 },
      note: 'garbage / bare',
    },
  ];
  if (isLarge)
    ratios.push({
      name: 'million_vs_thousand',
      value: median(rates.million) / median(rates.thousand),
      goal: { min: 0.9 },
      note: 'million / thousand',
    });
  return { figures, ratios };
}

async function measureGrowth(
  { small, large }: Setting,
  progress: SuiteOptions['progress'],
): Promise<SuiteResult> {
  progress('latencies: own list, admin page, create, revoke');
  // In turns, so that both see the same machine; the first turn warms up and doesn't count.
  const merge = (into: Latencies, more: Latencies) => {
    for (const action of Object.keys(into) as (keyof Latencies)[]) into[action].push(...more[action]);
  };
  const empty = (): Latencies => ({ 'own list': [], 'admin page 1': [], create: [], revoke: [] });
  const [ofSmall, ofLarge] = [empty(), empty()];
  await measureLatencies(small, 100);
  await measureLatencies(large, 100);
  for (let turn = 0; turn < 4; turn += 1) {
    merge(ofSmall, await measureLatencies(small, LATENCY_ROUNDS / 4));
    merge(ofLarge, await measureLatencies(large, LATENCY_ROUNDS / 4));
  }
  const actions = Object.keys(ofSmall) as (keyof Latencies)[];
  const figures: Figure[] = actions.flatMap((action) => [
    { name: `${action}, thousand`, value: p99(ofSmall[action]), unit: 'ms', note: 'p99' },
    { name: `${action}, million`, value: p99(ofLarge[action]), unit: 'ms', note: 'p99' },
  ]);
  const worst = Math.max(...actions.map((action) => p99(ofLarge[action]) / p99(ofSmall[action])));
  const lastPage = await measureLastPage(large, 100);
  figures.push({
    name: 'last_admin_page',
    value: lastPage.p99Ms,
    unit: 'ms',
    note: `p99, organisation with ${lastPage.total} tokens; at most 50`,
  });
  return {
    figures,
    ratios: [
      {
        name: 'growth_p99',
        value: worst,
        goal: { max: 1.5 },
        note: 'the worst of the four, million / thousand',
      },
    ],
  };
}

async function run(options: SuiteOptions): Promise<SuiteResult> {
  const isWanted = (part: string) => options.only.size === 0 || options.only.has(part);
  const isLarge = isWanted('million_vs_thousand') || isWanted('growth_p99');
  const { setting, stop } = await prepare(options.progress, isLarge);
  try {
    const results: SuiteResult[] = [];
    if (['verify_vs_bare', 'garbage_vs_bare', 'million_vs_thousand'].some(isWanted)) {
      const withLarge = isWanted('million_vs_thousand');
      results.push(throughputResult(await measureThroughput(setting, options, withLarge), withLarge));
    }
    if (isWanted('growth_p99')) results.push(await measureGrowth(setting, options.progress));
    return {
      figures: results.flatMap(({ figures }) => figures),
      ratios: results.flatMap(({ ratios }) => ratios),
    };
  } finally {
    await stop();
  }
}

export const authSuite: Suite = {
  name: 'auth',
  title: 'verification of tokens, and how it grows with them',
  parts: ['verify_vs_bare', 'garbage_vs_bare', 'million_vs_thousand', 'growth_p99'],
  run,
};
