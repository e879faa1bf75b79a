import type { Missing } from './requirements.js';

/** The environment variable from which Jest's workers, and the reporter, learn what this machine lacks. */
const MISSING_VARIABLE = 'TEST_MISSING_REQUIREMENTS';

export const writeMissing = (missing: Missing): Readonly<Record<string, string>> => ({
  [MISSING_VARIABLE]: JSON.stringify(missing),
});

export function readMissing(): Missing {
  const text = process.env[MISSING_VARIABLE];
  if (!text)
    throw new Error(`${MISSING_VARIABLE} is not set: run the tests with packages/config/jest.config.mjs`);
  return JSON.parse(text) as Missing;
}

/** Whether a requirement that isn't met is a failure rather than a skip: for the machine that must run everything. */
export const isEverythingRequired = (): boolean => process.env['REQUIRE_ALL'] === '1';
