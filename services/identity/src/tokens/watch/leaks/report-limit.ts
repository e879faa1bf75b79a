import type pg from 'pg';
import { createAttemptLimits } from '../../../base/rate-limits/attempt-limits.js';

/** Limits reports to sixty in fifteen minutes from one network, whatever they contain. */
export function createLeakReportLimit(pool: pg.Pool, name: 'leak-report' | 'leak-signature') {
  const limits = createAttemptLimits(pool, {
    name,
    perPair: 60,
    perAddress: 60,
    message: 'Too many reports: try again later',
  });
  return {
    /** Counts a report from an address. @throws AppError 429. */
    count: (address: string): Promise<void> => limits.begin(name, address),
    /** Takes a count back, because the report is one of a scanner that is known. */
    takeBack: (address: string): Promise<void> => limits.succeed(name, address),
  };
}
export type LeakReportLimit = ReturnType<typeof createLeakReportLimit>;
