import type { SignedCredential } from './credential.js';
import type { Role } from './scopes.js';

/** What is true of a living credential's owner now. */
export interface LiveOwner {
  readonly role: Role;
  readonly email: string;
  readonly fullName: string;
}

/**
 * The other half of verification: is this credential still active, is its owner still a member,
 * what is the owner's role now?
 *
 * The answer must be read after the question was asked; it is never remembered. Identity reads
 * its database, other services ask identity.
 *
 * @param requestId - of the request that asks: a service that asks another passes it on, as `x-request-id`.
 * @returns undefined when the credential is not alive.
 * @throws AppError 503 when it can't be known.
 */
export type Liveness = (credential: SignedCredential, requestId?: string) => Promise<LiveOwner | undefined>;
