import { hash } from 'node:crypto';

/*
 * A credential is a JWT (RFC 7519) signed with Ed25519 (RFC 8037), of one of four kinds:
 *
 *   session  issued at login; ends after 24 hours or at logout; no scopes
 *   pat      a personal access token; scopes fixed at creation; shown with the prefix `pat_`
 *   oauth    an OAuth 2.0 access token of a client: ten minutes, for the audience that it names
 *   service  a service's own, short-lived, from the client credentials grant (RFC 6749 §4.4)
 */
export const credentialKinds = ['session', 'pat', 'oauth', 'service'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** The prefix is for display only; it is neither signed nor hashed. */
export const PAT_PREFIX = 'pat_';

/** The claims of every credential; times are seconds since the epoch (NumericDate). */
export interface CredentialClaims {
  readonly iss: string;
  /** The id of a user or a service account, or the client id of a service. */
  readonly sub: string;
  /** Organisation id; absent for a service. */
  readonly org?: string;
  /** Id of the stored session or token, by which liveness is looked up. */
  readonly jti: string;
  readonly kind: CredentialKind;
  /** The client that an access token was issued to (RFC 9068 §2.2). */
  readonly client_id?: string;
  /** The services that accept an access token; it is refused by all others (RFC 9068 §4). */
  readonly aud?: string | readonly string[];
  /** Space-delimited (RFC 8693 §4.2); absent for a session. */
  readonly scope?: string;
  readonly iat: number;
  /** Absent for a token that never expires. */
  readonly exp?: number;
}

/** A credential with a valid signature. It may have been revoked since. */
export interface SignedCredential {
  readonly claims: CredentialClaims;
  readonly scopes: ReadonlySet<string>;
  /** The JWT without its display prefix. */
  readonly token: string;
  readonly digest: string;
}

/** Longer tokens are rejected unread; the platform's credentials are far shorter. */
export const MAX_TOKEN_LENGTH = 4_096;

export const stripPrefix = (presented: string): string =>
  presented.startsWith(PAT_PREFIX) ? presented.slice(PAT_PREFIX.length) : presented;

/** SHA-256 of the token without its prefix, base64url (43 characters): the only form that is stored. */
export const toDigest = (token: string): string => hash('sha256', token, 'base64url');
