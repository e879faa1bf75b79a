import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * A credential is a JWT (RFC 7519) signed with Ed25519 (RFC 8037), of one of four kinds:
 *
 *   session  issued at login; ends after 24 hours or at logout; no scopes
 *   pat      a personal access token; scopes fixed at creation; shown with a prefix and a checksum
 *   oauth    an OAuth 2.0 access token of a client: ten minutes, for the audience that it names
 *   service  a service's own, short-lived, from the client credentials grant (RFC 6749 §4.4)
 */
export const credentialKinds = ['session', 'pat', 'oauth', 'service'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/*
 * A personal access token is shown as `<prefix><JWT>_<checksum>`. Prefix and checksum let scanners find tokens in texts;
 * they are neither signed nor hashed. An instance chooses its prefix, and every instance accepts any prefix and none, so
 * that tokens outlive a change of it.
 */
export const DEFAULT_TOKEN_PREFIX = 'pat_';

/** A name and an underscore. */
export const isTokenPrefix = (text: string): boolean => /^[a-z][a-z\d]{1,15}_$/.test(text);

/** Every JWT of the platform begins with the base64url of `{"`. */
const JWT_START = 'eyJ';
const MAX_PREFIX_LENGTH = 17;
const CHECKSUM_LENGTH = 6;
/** An Ed25519 signature in base64url, whose characters include those of a checksum and its separator. */
const SIGNATURE_LENGTH = 86;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns the CRC-32 of the text in six digits of base62. */
export function toChecksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    digits = (BASE62[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Returns the form in which a token is shown. */
export const formatToken = (prefix: string, jwt: string): string => `${prefix}${jwt}_${toChecksum(jwt)}`;

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
  /** Names the key that an access token is bound to: it works only with a proof of that key (RFC 9449 §6.1). */
  readonly cnf?: { readonly jkt: string };
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

/** Returns where the JWT of a presented credential begins: behind the prefix, or at 0 when there is none. */
export function findJwtStart(presented: string): number {
  if (presented.startsWith(JWT_START)) return 0;
  const start = presented.indexOf('_') + 1;
  const hasPrefix = start <= MAX_PREFIX_LENGTH && presented.startsWith(JWT_START, start);
  return hasPrefix && isTokenPrefix(presented.slice(0, start)) ? start : 0;
}

/** Returns where the JWT of a presented credential ends: before the checksum, or at the end when there is none. */
export function findJwtEnd(presented: string): number {
  const signatureEnd = presented.lastIndexOf('.') + 1 + SIGNATURE_LENGTH;
  const hasChecksum =
    presented[signatureEnd] === '_' && presented.length === signatureEnd + 1 + CHECKSUM_LENGTH;
  return hasChecksum ? signatureEnd : presented.length;
}

/** Returns the JWT of a presented credential, without prefix and checksum; an empty text when the checksum is wrong. */
export function toJwt(presented: string): string {
  const end = findJwtEnd(presented);
  const jwt = presented.slice(findJwtStart(presented), end);
  return end === presented.length || presented.endsWith(toChecksum(jwt)) ? jwt : '';
}

/** SHA-256 of the token without its prefix, base64url (43 characters): the only form that is stored. */
export const toDigest = (token: string): string => hash('sha256', token, 'base64url');
