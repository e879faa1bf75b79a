import { createPublicKey } from 'node:crypto';

/** A public key as `/.well-known/jwks.json` shows it (RFC 7517, RFC 8037 §2). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

export interface Jwks {
  readonly keys: readonly PublicJwk[];
}

/** The keys whose signatures are accepted now. */
export interface KeySet {
  /**
   * Returns the PEM of each `kid`. A change of the keys produces a new map, so that a cache of results can compare the
   * identity of the map.
   *
   * @throws AppError 503 while no keys have been loaded.
   */
  current(): ReadonlyMap<string, string>;
  /** Whether a new key may be missing, because the last attempt to read the keys failed. */
  isStale(): boolean;
}

export const toPem = (jwk: Pick<PublicJwk, 'kty' | 'crv' | 'x'>): string =>
  createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();

/** Ignores keys of other types, so that a future algorithm does not break today's verifiers. */
export const toKeys = (jwks: Jwks): Map<string, string> =>
  new Map(
    jwks.keys.filter((jwk) => jwk.kty === 'OKP' && jwk.crv === 'Ed25519').map((jwk) => [jwk.kid, toPem(jwk)]),
  );
