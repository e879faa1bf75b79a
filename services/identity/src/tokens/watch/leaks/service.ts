import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { findIssuedTokens, insertLeakReports } from './queries.js';
import { type LeakedValue, toLeakedValue } from './report.js';
import { type LeakReportBody, MAX_REPORTED_LENGTH } from './schemas.js';

type Match = LeakReportBody['tokens'][number];

/**
 * Creates the service that stores reports of leaked tokens.
 *
 * @param deps.wake - wakes the job that revokes the tokens.
 */
export function createLeakReports(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly wake: () => void;
}) {
  async function store(values: readonly LeakedValue[]): Promise<void> {
    const unique = new Map(values.map((value) => [value.digest, value]));
    await insertLeakReports(deps.pool, [...unique.values()], new Date(deps.clock()));
    // The answer doesn't wait for the job, which takes longer when a token is alive.
    setImmediate(deps.wake);
  }
  return {
    /** Stores a report of leaked tokens. Neither the result nor its time tells which of them are tokens. */
    report: ({ tokens }: LeakReportBody): Promise<void> => store(tokens.map(toLeakedValue)),

    /** Stores a report of a trusted scanner. @returns the texts of it that are tokens, in whatever state. */
    async reportMatches(matches: readonly Match[]): Promise<ReadonlySet<string>> {
      const plausible = matches.filter(({ token }) => token.length <= MAX_REPORTED_LENGTH);
      const values = plausible.map(toLeakedValue);
      await store(values);
      const issued = await findIssuedTokens(deps.pool, values);
      return new Set(
        plausible.flatMap(({ token }, index) => (issued.has(values[index]?.digest ?? '') ? [token] : [])),
      );
    },
  };
}
export type LeakReports = ReturnType<typeof createLeakReports>;
