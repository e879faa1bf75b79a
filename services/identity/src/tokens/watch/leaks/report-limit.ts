import type pg from 'pg';
import { createAttemptLimits } from '../../../base/rate-limits/attempt-limits.js';

const PER_NETWORK = 60;
/** Each report writes up to a thousand rows, whoever sends it. */
const PER_INSTANCE = 20 * PER_NETWORK;

/**
 * Limits the requests of strangers in fifteen minutes, whatever they contain: those of a network, and, for reports that need
 * no signature, of everybody together. A scanner that signs its reports isn't kept away by what others send.
 */
export function createLeakReportLimit(pool: pg.Pool, name: 'leak-report' | 'leak-signature') {
  const limits = createAttemptLimits(pool, {
    name,
    ...(name === 'leak-report' && { perSubject: PER_INSTANCE }),
    perPair: PER_NETWORK,
    perAddress: PER_NETWORK,
    message: 'Too many reports: try again later',
  });
  return {
    /** Counts a request from an address. @throws AppError 429. */
    count: (address: string): Promise<void> => limits.begin(name, { address }),
    /** Takes a count back, because the report is one of a scanner that is known. */
    takeBack: (address: string): Promise<void> => limits.succeed(name, { address }),
  };
}
export type LeakReportLimit = ReturnType<typeof createLeakReportLimit>;
