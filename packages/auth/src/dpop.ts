import type { IncomingMessage } from 'node:http';
import { AppError, type Clock, isHeaderRepeated } from '@platform/service-kit';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import type { SignedCredential } from './credential.js';
import { createReplayCheck } from './replay-check.js';

/*
 * Access tokens that are bound to a key of their client (DPoP, RFC 9449). The token names the key in `cnf.jkt`, and each
 * request brings a proof: a JWT that is signed with the key, for this method, this URL and this token.
 */

/** The algorithms of proofs, as in the metadata of the authorization server. */
export const DPOP_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'] as const;

/** The difference that the clock of a client may have, and the time for which a proof can be used. */
const MAX_SKEW_SECONDS = 60;
const MAX_PROOF_LENGTH = 4_096;
const MAX_JTI_LENGTH = 256;

const dpopPattern = /^dpop +([\w.~+/=-]+) *$/i;

/** Reads the token of `Authorization: DPoP …` (RFC 9449 §7.1). The caller has made sure that there is one header. */
export const readDpopToken = ({ headers }: IncomingMessage): string | undefined =>
  dpopPattern.exec(headers.authorization ?? '')?.[1];

/** Creates the 401 for a bound token whose proof is missing or wrong (RFC 9449 §7.1). */
export const invalidProof = (message: string): AppError =>
  new AppError({
    status: 401,
    code: 'UNAUTHORIZED',
    message,
    headers: {
      'www-authenticate': `DPoP realm="platform", error="invalid_dpop_proof", algs="${DPOP_ALGORITHMS.join(' ')}"`,
    },
    isReused: true,
  });

/** @returns the normalised URL without query and fragment, or undefined when the value is not a URL. */
function toTarget(address: unknown): string | undefined {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (!url) return undefined;
  url.search = '';
  url.hash = '';
  return url.href;
}

function readProof({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const proof = headers['dpop'];
  if (typeof proof !== 'string' || proof.length > MAX_PROOF_LENGTH) return undefined;
  return isHeaderRepeated(rawHeaders, 'dpop') ? undefined : proof;
}

/** Uses up a proof, once its credential is known to be live. @returns false when it was used before. @throws AppError 429. */
export type UseProof = () => boolean;

/**
 * Verifies that the request proves that its sender has the key that the credential is bound to.
 *
 * @returns undefined when it does not.
 */
export type VerifyProof = (
  request: IncomingMessage,
  credential: SignedCredential,
) => Promise<UseProof | undefined>;

/**
 * Creates the check of proofs (RFC 9449 §4.3). A proof works once: each replica remembers used proofs for as long
 * as they are valid. Room is reserved for each organisation, and each account in it, so that a client that sends too many is
 * refused alone; a proof of a credential that has ended takes none.
 *
 * @param publicUrl - where clients reach the platform. A proof names that, not the address behind the gateway.
 */
export function createProofCheck(publicUrl: string, clock: Clock): VerifyProof {
  const replays = createReplayCheck({ retentionMs: 2 * MAX_SKEW_SECONDS * 1_000, clock });
  return async (request, { claims, digest }) => {
    const proof = readProof(request);
    const target = toTarget(publicUrl + (request.url ?? ''));
    if (proof === undefined || target === undefined) return undefined;
    const verified = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...DPOP_ALGORITHMS],
      typ: 'dpop+jwt',
      currentDate: new Date(clock()),
    }).catch(() => undefined);
    if (!verified) return undefined;
    const { payload, protectedHeader } = verified;
    const { iat, jti, htm, htu, ath } = payload as Readonly<Record<string, unknown>>;
    const isRecent = typeof iat === 'number' && Math.abs(clock() / 1_000 - iat) <= MAX_SKEW_SECONDS;
    if (!isRecent || htm !== request.method || toTarget(htu) !== target || ath !== digest) return undefined;
    if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_LENGTH) return undefined;
    // The signature check has read the key from the header.
    const { jwk } = protectedHeader;
    if (!jwk || (await calculateJwkThumbprint(jwk)) !== claims.cnf?.jkt) return undefined;
    const { jkt } = claims.cnf;
    return () => replays.isFirst({ orgId: claims.org ?? '', accountId: claims.sub }, `${jkt} ${jti}`);
  };
}
