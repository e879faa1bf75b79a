import { dependencyUnavailable, notApplied } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import {
  type CredentialClaims,
  credentialKinds,
  toDigest,
  type SignedCredential,
  stripPrefix,
  MAX_TOKEN_LENGTH,
} from './credential.js';
import type { KeySet } from './key-set.js';

/** Checks one signature with one key; throws when it is wrong. */
export type VerifyJwt = (token: string, publicKeyPem: string) => unknown;

/** Verified tokens kept in memory, about 1 KiB each: an Ed25519 check costs some 100 µs, a look-up one. */
const MAX_VERIFIED = 20_000;
/** Refused tokens have a cache of their own, so that garbage never drives a good token out. */
const MAX_REFUSED = 5_000;

/** Ours are UUIDs. */
const keyIdForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function readKeyId(header: string): string | undefined {
  try {
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

function isClaims(value: unknown): value is CredentialClaims {
  const claims = value as Partial<Record<keyof CredentialClaims, unknown>>;
  return (
    typeof claims.sub === 'string' &&
    typeof claims.jti === 'string' &&
    typeof claims.iat === 'number' &&
    (credentialKinds as readonly unknown[]).includes(claims.kind) &&
    (claims.kind === 'service' || typeof claims.org === 'string') &&
    (claims.scope === undefined || typeof claims.scope === 'string') &&
    (claims.exp === undefined || typeof claims.exp === 'number')
  );
}

/** Three non-empty parts of base64url, before anything is decoded. */
function looksSigned(token: string): boolean {
  if (token.length > MAX_TOKEN_LENGTH) return false;
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  return first > 0 && second > first + 1 && second < token.length - 1 && !token.includes('.', second + 1);
}

/**
 * The local half of verification: no I/O, so that garbage costs nothing but its own bytes.
 *
 * What is remembered is the signature's verdict on the whole token; expiry and liveness are asked
 * every time. A change of the keys forgets everything.
 *
 * @returns a function from the presented bearer to the credential, or undefined when it isn't ours. It throws AppError 503
 *   when that can't be known: its key is none of those here, and they are stale.
 */
export function createSignatureCheck(keySet: KeySet, verifyJwt: VerifyJwt) {
  const verified = new LRUCache<string, SignedCredential>({ max: MAX_VERIFIED });
  const refused = new LRUCache<string, true>({ max: MAX_REFUSED });
  const keysStale = notApplied(dependencyUnavailable('identity', new Error('signing keys may have changed')));
  let keys: ReadonlyMap<string, string> | undefined;

  function check(token: string, digest: string, pem: string): SignedCredential | undefined {
    try {
      const claims = verifyJwt(token, pem);
      if (isClaims(claims)) return { claims, scopes: new Set(claims.scope?.split(' ')), token, digest };
    } catch {
      // Wrong signature, algorithm, issuer or form: one verdict.
    }
    return undefined;
  }

  return (presented: string): SignedCredential | undefined => {
    const token = stripPrefix(presented);
    if (!looksSigned(token)) return undefined;
    const current = keySet.current();
    if (current !== keys) {
      verified.clear();
      refused.clear();
      keys = current;
    }
    const known = verified.get(token);
    if (known) return known;
    const keyId = readKeyId(token.slice(0, token.indexOf('.'))) ?? '';
    const pem = current.get(keyId);
    if (pem === undefined) {
      // Of no key of ours: nothing to hash, to remember or to ask for.
      if (keySet.isStale() && keyIdForm.test(keyId)) throw keysStale;
      return undefined;
    }
    // Under its digest: what was refused may be long, and is somebody else's.
    const digest = toDigest(token);
    if (refused.has(digest)) return undefined;
    const credential = check(token, digest, pem);
    if (credential) verified.set(token, credential);
    else refused.set(digest, true);
    return credential;
  };
}
