import { load } from '../../load.js';
import { type Figure, median, type Ratio, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { forgedBearers, garbageBearers } from './bearers.js';
import { ME, million, type Environment, USED_AT_ONCE } from './environment.js';

const ROUNDS = 9;
/** The share of `--seconds` that one turn takes: many short turns even out the noise better than a few long ones. */
const SHARE_OF_A_TURN = 1 / 3;

/**
 * The loads alternate, and each ratio is the median over all rounds: a slow phase of the machine affects both sides of
 * a ratio.
 */
export async function measureThroughput(
  { small, large, baseline, ...tokens }: Environment,
  options: SuiteOptions,
  isLarge: boolean,
) {
  const { progress } = options;
  const seconds = options.seconds * SHARE_OF_A_TURN;
  const rates = {
    bare: [] as number[],
    thousand: [] as number[],
    listed: [] as number[],
    million: [] as number[],
    spread: [] as number[],
    garbage: [] as number[],
    forged: [] as number[],
  };
  const verifyP99Ms: number[] = [];
  const garbage = garbageBearers();
  const forged = forgedBearers(tokens.smallTokens[0] ?? '');
  progress('warming up');
  await load(baseline.url + ME, { seconds: 2, bearers: tokens.smallTokens });
  await load(small.url + ME, { seconds: 3, bearers: tokens.smallTokens });
  await load(small.url + ME, { seconds: 2, bearers: tokens.listedTokens });
  await load(small.url + ME, { seconds: 2, bearers: garbage, expected: 401 });
  // Every tenth token, so that the sample is spread over the tables as widely as all tokens are.
  const sameLoad = tokens.largeTokens.filter((_token, index) => index % (million.used / USED_AT_ONCE) === 0);
  if (isLarge) await load(large.url + ME, { seconds: 5, bearers: tokens.largeTokens });
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`load, round ${round} of ${ROUNDS}`);
    // The bare route gets the same headers, because parsing them takes time there too.
    rates.bare.push(
      (await load(baseline.url + ME, { seconds, bearers: tokens.smallTokens })).requestsPerSecond,
    );
    const verified = await load(small.url + ME, { seconds, bearers: tokens.smallTokens });
    rates.thousand.push(verified.requestsPerSecond);
    verifyP99Ms.push(verified.p99Ms);
    rates.listed.push(
      (await load(small.url + ME, { seconds, bearers: tokens.listedTokens })).requestsPerSecond,
    );
    if (isLarge) {
      rates.million.push((await load(large.url + ME, { seconds, bearers: sameLoad })).requestsPerSecond);
      const { requestsPerSecond } = await load(large.url + ME, { seconds, bearers: tokens.largeTokens });
      rates.spread.push(requestsPerSecond);
    }
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

export function throughputResult(
  measured: Awaited<ReturnType<typeof measureThroughput>>,
  isLarge: boolean,
): SuiteResult {
  const { rates } = measured;
  // prettier-ignore
  const rate = (name: keyof typeof rates, note: string): Figure => ({
    name, value: median(rates[name]), unit: 'requests/s', note,
  });
  const toRatio = (name: keyof typeof rates, base: keyof typeof rates): number =>
    median(rates[name].map((value, round) => value / (rates[base][round] ?? Number.NaN)));
  const figures = [
    rate('bare', 'bare Fastify JSON route'),
    rate('thousand', 'GET users/me with one of 1,000 tokens, liveness read from PostgreSQL each time'),
    rate('listed', 'the same, each token with an allow list of 20 ranges'),
    ...(isLarge
      ? [
          rate('million', 'the same with 1,000,000 tokens of 100,000 members, 1,000 of them in use'),
          rate('spread', 'and 10,000 of them in use'),
        ]
      : []),
    rate('garbage', '20,000 different bearers that the platform did not issue'),
    rate('forged', '20,000 different tokens with a forged signature: one Ed25519 check each'),
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
      value: toRatio('thousand', 'bare'),
      goal: { min: 0.4 },
      note: 'thousand / bare',
    },
    {
      name: 'allow_lists_vs_none',
      value: toRatio('listed', 'thousand'),
      goal: { min: 0.97 },
      note: 'listed / thousand: 20 ranges on each token',
    },
    {
      name: 'garbage_vs_bare',
      value: toRatio('garbage', 'bare'),
      goal: { min: 0.55 },
      note: 'garbage / bare',
    },
  ];
  if (isLarge)
    ratios.push({
      name: 'million_vs_thousand',
      value: toRatio('million', 'thousand'),
      goal: { min: 0.9 },
      note: 'million / thousand',
    });
  return { figures, ratios };
}
