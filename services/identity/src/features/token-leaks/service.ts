import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { insertLeakReports } from './queries.js';
import { toLeakedValue } from './report.js';
import type { LeakReportBody } from './schemas.js';

/** Stores a report of leaked tokens. Neither the result nor its time tells which of them are tokens. */
export type ReportLeaks = (body: LeakReportBody) => Promise<void>;

/** @param deps.wake - wakes the job that revokes them. */
export const createReportLeaks =
  (deps: { readonly pool: pg.Pool; readonly clock: Clock; readonly wake: () => void }): ReportLeaks =>
  async ({ tokens }) => {
    const values = new Map(tokens.map(toLeakedValue).map((value) => [value.digest, value]));
    await insertLeakReports(deps.pool, [...values.values()], new Date(deps.clock()));
    // The answer doesn't wait for the job, which takes longer when a token is alive.
    setImmediate(deps.wake);
  };
