import type { Bounds } from './bounds.js';
import type { SignedCredential } from './credential.js';
import type { Role } from './scopes.js';

/** A group that an account is in. */
export interface AccountGroup {
  readonly id: string;
  readonly name: string;
  readonly source: string;
}

/** The current data of the owner of an active credential. */
export interface LiveOwner {
  readonly role: Role;
  readonly email: string;
  readonly fullName: string;
  /** Whether the owner is a service account rather than a member. */
  readonly isServiceAccount: boolean;
  /** The scopes that are left of the signed ones; undefined when none was removed. */
  readonly scopes?: ReadonlySet<string>;
  /** Undefined for a credential that has no bounds. */
  readonly bounds?: Bounds;
  /** Undefined when it is in none, and in the services that ask identity: they decide nothing by groups. */
  readonly groups?: readonly AccountGroup[];
}

/** The request that presents a credential, as far as liveness needs it. */
export interface Presentation {
  /** A service that asks another passes it on, as `x-request-id`. */
  readonly requestId?: string | undefined;
  /** The client's address, as the trusted proxies report it; undefined when it is unknown. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Looks up the other half of a verification: whether the credential is still active, whether its owner is still a
 * member, and the owner's current role.
 *
 * The result must be read after the call began, and is never cached. Identity reads its database, other services ask
 * identity.
 *
 * @returns undefined when the credential is not active, or may not be used from the address.
 * @throws AppError 503 when that cannot be determined.
 */
export type Liveness = (
  credential: SignedCredential,
  presentation?: Presentation,
) => Promise<LiveOwner | undefined>;
