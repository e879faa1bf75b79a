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

/** The keys whose signatures count now. */
export interface KeySet {
  /**
   * PEM by `kid`. A change of the keys is a new map, never a changed one: whoever keeps
   * results by key compares the map's identity.
   *
   * @throws AppError 503 while no keys could be had yet.
   */
  current(): ReadonlyMap<string, string>;
  /** Whether a new key may be missing: the keys couldn't be read when that was last tried. */
  isStale(): boolean;
}

export const toPem = (jwk: Pick<PublicJwk, 'kty' | 'crv' | 'x'>): string =>
  createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();

/** Ignores keys of other types: a future algorithm must not stop today's verifiers. */
export const toKeys = (jwks: Jwks): Map<string, string> =>
  new Map(
    jwks.keys.filter((jwk) => jwk.kty === 'OKP' && jwk.crv === 'Ed25519').map((jwk) => [jwk.kid, toPem(jwk)]),
  );
