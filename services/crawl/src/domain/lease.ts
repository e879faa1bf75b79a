import { createHash, randomBytes } from 'node:crypto';

/*
 * A lease is the secret that proves a claim: who reports about a run, or finishes it, sends it along. Its hash is stored
 * with the run. The hash covers the holder, so a lease proves nothing in the hands of another credential.
 */

const LEASE_BYTES = 24;

/** Whoever knows the lease of an endpoint's order may report: no credential has claimed the run. */
export const ENDPOINT_HOLDER = 'endpoint';

export const createLease = (): string => randomBytes(LEASE_BYTES).toString('base64url');

/** Hashes a lease. It is random, so a fast hash is enough. */
export const hashLease = (lease: string, holder: string): Buffer =>
  createHash('sha256').update(`${holder}\n${lease}`).digest();
