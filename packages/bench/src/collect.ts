import type { Figure, Ratio, Suite, SuiteOptions, SuiteResult } from './suite.js';

/** Runs a suite. When a part fails, the results of the parts before it are kept. */
export async function collect(
  suite: Suite,
  wanted: SuiteOptions,
): Promise<{ result: SuiteResult; failure: unknown }> {
  const figures: Figure[] = [];
  const ratios: Ratio[] = [];
  let failure: unknown;
  try {
    for await (const part of suite.run(wanted)) {
      figures.push(...part.figures);
      ratios.push(...part.ratios);
    }
  } catch (error) {
    failure = error;
  }
  return { result: { figures, ratios }, failure };
}
