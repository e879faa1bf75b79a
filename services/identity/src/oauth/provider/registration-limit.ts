import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';

/** Counts a registration from an address. @throws AppError 429. */
export type CountRegistration = (address: string) => Promise<void>;

/**
 * A hundred registrations in fifteen minutes from one address: a client registers once, but the agents of a whole office
 * may share an address.
 */
export function createRegistrationLimit(pool: pg.Pool): CountRegistration {
  const limits = createAttemptLimits(pool, {
    name: 'registration',
    perPair: 100,
    perAddress: 100,
    message: 'Too many registrations: try again later',
  });
  return (address) => limits.begin('registration', { address });
}
