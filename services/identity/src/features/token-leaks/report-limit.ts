import type pg from 'pg';
import { createAttemptLimits } from '../attempt-limits/attempt-limits.js';

/** Counts a report from an address. @throws AppError 429. */
export type CountLeakReport = (address: string) => Promise<void>;

/** Sixty reports in fifteen minutes from one network, whatever they contain: 60,000 tokens. */
export function createLeakReportLimit(pool: pg.Pool): CountLeakReport {
  const limits = createAttemptLimits(pool, {
    name: 'leak-report',
    perPair: 60,
    perAddress: 60,
    message: 'Too many reports: try again later',
  });
  return (address) => limits.begin('leak-report', address);
}
