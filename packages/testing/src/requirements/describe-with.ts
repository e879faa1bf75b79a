import { isEverythingRequired, readMissing } from './environment.js';
import type { Requirement } from './requirements.js';

/** The requirements that the groups around the current test declared; Jest loads this module once per file. */
const declared: Requirement[] = [];

/**
 * A `describe` for tests that need something beyond Node and npm. They are skipped where it is not available, and the
 * last lines of the run report that; with REQUIRE_ALL=1 they fail instead.
 *
 * @throws in a file of the quick run, which needs Node and npm alone and therefore skips nothing.
 */
export function describeWith(requirement: Requirement, title: string, body: () => void): void {
  if (!expect.getState().testPath?.endsWith('.full.test.ts'))
    throw new Error(`${title}: tests that need ${requirement} belong into a file named *.full.test.ts`);
  const reason = readMissing()[requirement];
  if (reason === undefined)
    describe(title, () => {
      beforeAll(() => void declared.push(requirement));
      afterAll(() => void declared.splice(declared.lastIndexOf(requirement), 1));
      body();
    });
  else if (isEverythingRequired())
    test(`${title}: ${requirement} is required (REQUIRE_ALL=1)`, () => {
      throw new Error(reason);
    });
  else describe.skip(`${title} ${mark(requirement)}`, body);
}

/**
 * Called by everything that starts or uses a requirement.
 *
 * @throws when no group around the test has declared it, even if it is available here: otherwise the test would fail
 * on machines that lack it. Outside of a test run there is nothing to declare.
 */
export function assertDeclared(requirement: Requirement): void {
  if (!('describe' in globalThis) || declared.includes(requirement)) return;
  throw new Error(`these tests need ${requirement}: put them into describeWith('${requirement}', …)`);
}

/** Builds the title of a skipped group, which contains the reason; the reporter counts by it. */
export const mark = (requirement: Requirement): string => `[needs ${requirement}]`;
