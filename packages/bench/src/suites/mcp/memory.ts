import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { loadWith, startFixture } from './fixture.js';

/** Takes minutes, so it is measured only when this part is named with `--only`. */
const CALLS_WHEN_NAMED = 1_000_000;
const CALLS = 100_000;
/** By then V8 has compiled the hot code and the caches are full. */
const WARM_UP_CALLS = 50_000;
const STEPS = 20;
/** The medians of the first and the last of this many steps are compared. */
const COMPARED_STEPS = 4;

/** Measures resident memory while `whoami` is called repeatedly with 1,000 tokens. */
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
