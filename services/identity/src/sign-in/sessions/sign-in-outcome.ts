import type { Transaction } from '../../prisma.js';
import type { ClientAddress } from '../../base/caller/client.js';
import type { Account } from '../../members/members/queries.js';
import type { LoginResponse } from './schemas.js';

/** The way in which a member authenticates before a second factor is required. A passkey alone is both. */
export type FirstFactor = 'password' | 'code' | 'invitation' | 'provider' | 'passkey';

/** The second factor with which a member has authenticated. */
export type SecondFactor = 'totp' | 'recovery_code' | 'passkey' | 'provider';

/** A sign-in whose first factor was right. It is no session: all that it can do is to present the second factor. */
export interface PendingSignIn {
  /** `verify`: the second factor is asked for. `enrol`: the organisation requires one, and the member has none. */
  readonly step: 'verify' | 'enrol';
  /** A secret of 256 bits that stands for the pending sign-in, once. */
  readonly challenge: string;
  readonly expiresAt: string;
}

/** The outcome of a first factor: a session, or the step that is missing. */
export type SignInOutcome = { readonly session: LoginResponse } | { readonly pending: PendingSignIn };

/**
 * Goes on after a first factor. Every sign-in does it this way, so that none goes round the second factor.
 *
 * @param account - as the first factor found it; the caller holds a lock on it.
 * @param secondFactor - a second factor that the first one included.
 */
export type PassFirstFactor = (
  tx: Transaction,
  account: Account,
  client: ClientAddress,
  method: FirstFactor,
  secondFactor?: SecondFactor,
) => Promise<SignInOutcome>;
