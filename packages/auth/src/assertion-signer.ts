import { createSigner } from 'fast-jwt';
import { SIGNING_ALGORITHM, type SignJwt } from './jwt.js';

/**
 * Creates a function that signs claims as `signCredential` does, and keeps the signer of the last key. Every call of a
 * mounted tool signs an assertion, and reading the private key takes longer than signing with it.
 */
export function createAssertionSigner(): SignJwt {
  let last: { readonly key: string; readonly sign: (claims: object) => string } | undefined;
  return (claims, { privatePem: key, kid }) => {
    if (last?.key !== key) last = { key, sign: createSigner({ key, kid, algorithm: SIGNING_ALGORITHM }) };
    return last.sign(claims);
  };
}
