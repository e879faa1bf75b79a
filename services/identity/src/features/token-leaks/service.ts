import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { findIssuedTokens, insertLeakReports } from './queries.js';
import { type LeakedValue, toLeakedValue } from './report.js';
import { type LeakReportBody, MAX_REPORTED_LENGTH } from './schemas.js';

type Match = LeakReportBody['tokens'][number];

export interface LeakReports {
  /** Stores a report of leaked tokens. Neither the result nor its time tells which of them are tokens. */
  report(body: LeakReportBody): Promise<void>;
  /** Stores a report of a trusted scanner. @returns the texts of it that are tokens, in whatever state. */
  reportMatches(matches: readonly Match[]): Promise<ReadonlySet<string>>;
}

/** @param deps.wake - wakes the job that revokes the tokens. */
export function createLeakReports(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly wake: () => void;
}): LeakReports {
  async function store(values: readonly LeakedValue[]): Promise<void> {
    const unique = new Map(values.map((value) => [value.digest, value]));
    await insertLeakReports(deps.pool, [...unique.values()], new Date(deps.clock()));
    // The answer doesn't wait for the job, which takes longer when a token is alive.
    setImmediate(deps.wake);
  }
  return {
    report: ({ tokens }) => store(tokens.map(toLeakedValue)),
    async reportMatches(matches) {
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
