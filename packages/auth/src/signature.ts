import { dependencyUnavailable, notApplied } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import {
  type CredentialClaims,
  credentialKinds,
  findJwtEnd,
  findJwtStart,
  MAX_TOKEN_LENGTH,
  type SignedCredential,
  toChecksum,
  toDigest,
} from './credential.js';
import type { KeySet } from './key-set.js';

/** Checks one signature with one key; throws when it is invalid. */
export type VerifyJwt = (token: string, publicKeyPem: string) => unknown;

/** The number of verified tokens that are cached, at about 1 KiB each. An Ed25519 check costs some 100 µs, a cache hit 1 µs. */
const MAX_VERIFIED = 20_000;
/** The number of refused tokens that are cached. They have a separate cache, so that garbage never evicts a valid token. */
const MAX_REFUSED = 5_000;

/** The ids in the platform's claims are UUIDs. */
const keyIdForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function readKeyId(header: string): string | undefined {
  try {
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Only access tokens are bound to a key. Any other confirmation would go unchecked, so it is refused. */
const isConfirmation = (cnf: unknown, kind: unknown): boolean =>
  cnf === undefined ||
  (kind === 'oauth' &&
    typeof cnf === 'object' &&
    cnf !== null &&
    'jkt' in cnf &&
    typeof cnf.jkt === 'string');

function isClaims(value: unknown): value is CredentialClaims {
  const claims = value as Partial<Record<keyof CredentialClaims, unknown>>;
  return (
    typeof claims.sub === 'string' &&
    typeof claims.jti === 'string' &&
    typeof claims.iat === 'number' &&
    (credentialKinds as readonly unknown[]).includes(claims.kind) &&
    (claims.kind === 'service' || typeof claims.org === 'string') &&
    (claims.kind !== 'oauth' || (typeof claims.client_id === 'string' && claims.aud !== undefined)) &&
    (claims.scope === undefined || typeof claims.scope === 'string') &&
    (claims.exp === undefined || typeof claims.exp === 'number') &&
    isConfirmation(claims.cnf, claims.kind)
  );
}

/** Returns whether the text has three parts, without decoding or copying any of it. */
function looksSigned(presented: string): boolean {
  if (presented.length > MAX_TOKEN_LENGTH) return false;
  const first = presented.indexOf('.');
  const second = presented.indexOf('.', first + 1);
  return (
    first > 0 && second > first + 1 && second < presented.length - 1 && !presented.includes('.', second + 1)
  );
}

/** A token whose signature is valid. Its checksum is kept, because calculating it takes longer than the rest of a hit. */
interface VerifiedToken {
  readonly credential: SignedCredential;
  readonly checksum: string;
}

/**
 * Creates the local half of verification. It does no I/O, and refuses what does not look signed without an allocation.
 *
 * Only the result of the signature check is cached, for the whole token; expiry and liveness are checked every time. A
 * change of the keys empties the caches.
 *
 * @returns a function from the presented bearer to the credential, or to undefined when the platform did not issue it.
 *   It throws AppError 503 when that cannot be determined because the key is unknown and the keys are stale.
 */
export function createSignatureCheck(keySet: KeySet, verifyJwt: VerifyJwt) {
  const verified = new LRUCache<string, VerifiedToken>({ max: MAX_VERIFIED });
  const refused = new LRUCache<string, true>({ max: MAX_REFUSED });
  const keysStale = notApplied(dependencyUnavailable('identity', new Error('signing keys may have changed')));
  let keys: ReadonlyMap<string, string> | undefined;

  function check(token: string, digest: string, pem: string): SignedCredential | undefined {
    try {
      const claims = verifyJwt(token, pem);
      if (isClaims(claims)) return { claims, scopes: new Set(claims.scope?.split(' ')), token, digest };
    } catch {
      // A wrong signature, algorithm, issuer or form all have the same result.
    }
    return undefined;
  }

  /** Checks a token that is not in the cache. */
  function checkNew(token: string, pems: ReadonlyMap<string, string>): SignedCredential | undefined {
    const keyId = readKeyId(token.slice(0, token.indexOf('.'))) ?? '';
    const pem = pems.get(keyId);
    if (pem === undefined) {
      // A token of an unknown key is neither hashed nor cached.
      if (keySet.isStale() && keyIdForm.test(keyId)) throw keysStale;
      return undefined;
    }
    // The cache stores the digest, because a refused token may be long and may be valid elsewhere.
    const digest = toDigest(token);
    if (refused.has(digest)) return undefined;
    const credential = check(token, digest, pem);
    if (credential) verified.set(token, { credential, checksum: toChecksum(token) });
    else refused.set(digest, true);
    return credential;
  }

  return (presented: string): SignedCredential | undefined => {
    if (!looksSigned(presented)) return undefined;
    const current = keySet.current();
    if (current !== keys) {
      verified.clear();
      refused.clear();
      keys = current;
    }
    const end = findJwtEnd(presented);
    const token = presented.slice(findJwtStart(presented), end);
    const known = verified.get(token);
    const hasChecksum = end < presented.length;
    if (hasChecksum && !presented.endsWith(known?.checksum ?? toChecksum(token))) return undefined;
    return known ? known.credential : checkNew(token, current);
  };
}
