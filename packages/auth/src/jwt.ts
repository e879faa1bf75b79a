import { createSigner, createVerifier } from 'fast-jwt';
import type { VerifyJwt } from './signature.js';

const SIGNING_ALGORITHM = 'EdDSA';

/** Signs claims with a private key in PEM. */
export type SignCredential = (
  claims: object,
  key: { readonly privatePem: string; readonly kid: string },
) => string;

/** Keeps one verifier per key, because creating one costs as much again as the signature. */
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

/** Keeps the signer of the last key, which is the active one: reading a private key takes longer than signing with it. */
export function createSignCredential(): SignCredential {
  let last: { readonly key: string; readonly sign: (claims: object) => string } | undefined;
  return (claims, { privatePem: key, kid }) => {
    if (last?.key !== key) last = { key, sign: createSigner({ key, kid, algorithm: SIGNING_ALGORITHM }) };
    return last.sign(claims);
  };
}
