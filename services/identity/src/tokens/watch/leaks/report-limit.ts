import type pg from 'pg';
import { createAttemptLimits } from '../../../base/rate-limits/attempt-limits.js';
import { toNetwork } from '../../../base/network.js';

const PER_NETWORK = 60;
/** A /48 has 65,536 networks, and is what one site gets (RFC 6177). */
const SITE_PREFIX = { ipv4: 32, ipv6: 48 } as const;
const PER_SITE = 4 * PER_NETWORK;
/** Each report writes up to a thousand rows, whoever sends it. */
const PER_INSTANCE = 20 * PER_NETWORK;

/**
 * Limits the requests of strangers in fifteen minutes, whatever they contain: those of a network, of a site, and, for reports
 * that need no signature, of everybody together.
 */
export function createLeakReportLimit(pool: pg.Pool, name: 'leak-report' | 'leak-signature') {
  const message = 'Too many reports: try again later';
  const perPair = PER_NETWORK;
  const limits = createAttemptLimits(pool, {
    name,
    perSubject: PER_SITE,
    perPair,
    perAddress: perPair,
    message,
  });
  const instance = createAttemptLimits(pool, {
    name: `${name}-of-all`,
    perSubject: PER_INSTANCE,
    perPair,
    perAddress: perPair,
    message,
  });
  const toSite = (address: string): string => toNetwork(address, SITE_PREFIX);
  return {
    /** Counts a request from an address. @throws AppError 429. */
    async count(address: string): Promise<void> {
      await limits.begin(toSite(address), address);
      // A scanner that signs its reports isn't kept away by what others send.
      if (name === 'leak-report') await instance.begin(name, address);
    },
    /** Takes a count back, because the report is one of a scanner that is known. */
    takeBack: (address: string): Promise<void> => limits.succeed(toSite(address), address),
  };
}
export type LeakReportLimit = ReturnType<typeof createLeakReportLimit>;
