import type { Figure, Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { type Latencies, measureLastPage, measureLatencies, p99 } from './latencies.js';
import { prepare, type Environment } from './environment.js';
import { measureOauth } from './oauth.js';
import { measureThroughput, throughputResult } from './throughput.js';

const LATENCY_ROUNDS = 400;

async function measureGrowth(
  { small, large }: Environment,
  progress: SuiteOptions['progress'],
): Promise<SuiteResult> {
  progress('latencies: own list, admin page, create, revoke');
  // Alternate between the two, so that a slow phase of the machine affects both. The first round is a warm-up.
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
        note: 'largest of the four ratios, million / thousand',
      },
    ],
  };
}

const throughputParts = ['verify_vs_bare', 'allow_lists_vs_none', 'garbage_vs_bare', 'million_vs_thousand'];
const verificationParts = [...throughputParts, 'growth_p99'];
const oauthParts = ['oauth_vs_pat', 'issuance_vs_library'];

async function* run(options: SuiteOptions): AsyncGenerator<SuiteResult> {
  const isWanted = (part: string) => options.only.size === 0 || options.only.has(part);
  if (oauthParts.some(isWanted)) yield* measureOauth(options, isWanted);
  if (!verificationParts.some(isWanted)) return;
  const isLarge = isWanted('million_vs_thousand') || isWanted('growth_p99');
  const environment = await prepare(options.progress, isLarge);
  try {
    if (throughputParts.some(isWanted)) {
      const withLarge = isWanted('million_vs_thousand');
      yield throughputResult(await measureThroughput(environment, options, withLarge), withLarge);
    }
    if (isWanted('growth_p99')) yield await measureGrowth(environment, options.progress);
  } finally {
    await environment.stop();
  }
}

export const authSuite: Suite = {
  name: 'auth',
  title: 'verification of tokens, and how it grows with them',
  parts: [...verificationParts, ...oauthParts],
  run,
};
