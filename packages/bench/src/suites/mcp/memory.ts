import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { loadWith, startFixture } from './fixture.js';

/** All of them take minutes: only where this part is asked for by name. */
const CALLS_WHEN_NAMED = 1_000_000;
const CALLS = 100_000;
/** Where V8 has seen the code and the caches are full. */
const WARM_UP_CALLS = 50_000;
const STEPS = 20;
/** What the medians of the beginning and the end are taken of. */
const COMPARED_STEPS = 4;

/** Resident memory while `whoami` is called again and again with 1,000 tokens. */
export async function measureMemory({ only, progress }: SuiteOptions): Promise<SuiteResult> {
  const calls = only.size > 0 ? CALLS_WHEN_NAMED : CALLS;
  const { identity, tokens, stop } = await startFixture();
  try {
    await loadWith(identity, tokens, 'call', { requests: WARM_UP_CALLS });
    const resident: number[] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      await loadWith(identity, tokens, 'call', { requests: calls / STEPS });
      resident.push(await identity.residentMib());
      progress(`${(calls / STEPS) * step} calls, ${resident.at(-1)?.toFixed(1)} MiB`);
    }
    const early = median(resident.slice(0, COMPARED_STEPS));
    const late = median(resident.slice(-COMPARED_STEPS));
    return {
      figures: [
        { name: 'resident_early', value: early, unit: 'MiB', note: `in the first fifth of ${calls} calls` },
        { name: 'resident_late', value: late, unit: 'MiB', note: 'in the last fifth' },
      ],
      ratios: [
        {
          name: 'resident_growth',
          value: late / early,
          goal: { max: 1.1 },
          note: `late / early, ${calls} calls`,
        },
      ],
    };
  } finally {
    await stop();
  }
}
