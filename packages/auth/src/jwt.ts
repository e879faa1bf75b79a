import { createVerifier } from 'fast-jwt';
import type { VerifyJwt } from './signature.js';

export const SIGNING_ALGORITHM = 'EdDSA';

/**
 * Keeps one verifier per key with the engine of @fastify/jwt. @fastify/jwt itself creates a verifier for every call that
 * names a key, which costs as much again as the signature.
 */
export function createJwtCheck(issuer: string): VerifyJwt {
  const verifiers = new Map<string, (token: string) => unknown>();
  return (token, publicKeyPem) => {
    let verifier = verifiers.get(publicKeyPem);
    if (!verifier) {
      verifier = createVerifier({
        key: publicKeyPem,
        algorithms: [SIGNING_ALGORITHM],
        allowedIss: issuer,
        requiredClaims: ['iss'],
        // The pipeline checks this on every request with its own clock; the cache of signatures would check it once.
        ignoreExpiration: true,
      }) as (token: string) => unknown;
      verifiers.set(publicKeyPem, verifier);
    }
    return verifier(token);
  };
}
