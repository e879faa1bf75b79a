import { mark } from './describe-with.js';
import { type Missing, type Requirement, REQUIREMENTS } from './requirements.js';

/** The parts of a test's result that are used here. */
export interface TestOutcome {
  readonly status: string;
  readonly title: string;
}

/**
 * Describes which tests of a run were left out, and how to include them. @returns nothing, or the lines that end the
 * run's report.
 */
export function describeLeftOut(
  outcomes: readonly TestOutcome[],
  missing: Missing,
  others: readonly string[] = [],
): string {
  const skipped = outcomes.filter(({ status }) => status === 'pending');
  const lines = REQUIREMENTS.map((requirement) => describeOne(requirement, skipped, missing));
  const all = [...lines.filter((line) => line !== undefined), ...others.map((other) => `  ${other}`)];
  return all.length === 0 ? '' : `\nLeft out on this machine:\n${all.join('\n')}\n`;
}

function describeOne(
  requirement: Requirement,
  skipped: readonly TestOutcome[],
  missing: Missing,
): string | undefined {
  // The runner reports a skipped group as one outcome.
  const own = skipped.filter(({ title }) => title.endsWith(mark(requirement)));
  if (own.length === 0) return undefined;
  const groups = own.length === 1 ? '1 group of tests that needs' : `${own.length} groups of tests that need`;
  return `  ${groups} ${requirement}: ${missing[requirement] ?? 'skipped'}.`;
}
