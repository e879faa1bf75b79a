import { createPublicKey } from 'node:crypto';
import { createJwtSigner, type CredentialClaims, type Jwks, type KeySet } from '@platform/auth';
import {
  type Clock,
  createPeriodicTask,
  dependencyUnavailable,
  type Logger,
  type SecretBox,
} from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import { generateKey, openPrivateKey } from './key.js';
import { findKeys, insertFirstKey, type SigningKeyRow } from './queries.js';

/*
 * The life of a signing key:
 *
 *   published  in the JWKS and verifies, but doesn't sign yet (activeFrom is in the future)
 *   active     signs: the newest key whose activeFrom has passed
 *   retired    verifies what it signed, because tokens are long-lived (a newer key is active)
 *   removed    no longer in the JWKS: credentials that it signed are rejected
 *
 * Replicas poll the table, and other services the JWKS, every 5 seconds. A key is published for longer than that before
 * it signs, so a rotation never rejects a valid credential, and an unknown `kid` can be rejected without a lookup.
 */

const POLL_MS = 5_000;

function toJwk(key: SigningKeyRow): Jwks['keys'][number] {
  const { x } = createPublicKey(key.publicKey).export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', x: x ?? '', kid: key.id, alg: 'EdDSA', use: 'sig' };
}

export function createSigningKeys(deps: {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly issuer: string;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { prisma, box, clock, issuer, log } = deps;
  let rows: SigningKeyRow[] = [];
  let pems: ReadonlyMap<string, string> | undefined;
  let published: Jwks = { keys: [] };
  let isStale = false;
  const privatePems = new Map<string, string>();
  const signJwt = createJwtSigner();

  async function refresh(): Promise<void> {
    const found = await findKeys(prisma);
    isStale = false;
    if (pems && found.map(({ id }) => id).join() === rows.map(({ id }) => id).join()) return;
    rows = found;
    pems = new Map(found.map(({ id, publicKey }) => [id, publicKey]));
    published = { keys: found.map(toJwk) };
    privatePems.clear();
  }

  function getActiveKey(): { privatePem: string; kid: string } {
    const now = clock();
    const row = rows.find(({ activeFrom }) => activeFrom.getTime() <= now) ?? rows.at(-1);
    if (!row) throw dependencyUnavailable('signing keys');
    const privatePem = privatePems.get(row.id) ?? openPrivateKey(box, row);
    privatePems.set(row.id, privatePem);
    return { privatePem, kid: row.id };
  }

  const polling = createPeriodicTask({
    intervalMs: POLL_MS,
    run: refresh,
    onError: (error) => {
      isStale = true;
      log.warn({ err: error }, 'failed to reload the signing keys; retrying');
    },
  });

  const keySet: KeySet = {
    current() {
      if (!pems) throw dependencyUnavailable('signing keys');
      return pems;
    },
    isStale: () => isStale,
  };

  return {
    keySet,
    jwks: () => published,

    /** @returns the signed token and the id of the key that signed it. */
    async mint(claims: Omit<CredentialClaims, 'iss'>) {
      const key = getActiveKey();
      return { token: await signJwt({ iss: issuer, ...claims }, key), keyId: key.kid };
    },

    /** Signs claims that are no credential of the platform. @returns the JWT. */
    signClaims: async (claims: object) => signJwt({ iss: issuer, ...claims }, getActiveKey()),

    /** Reloads the keys from the database. */
    refresh,

    /** Generates the first key if there is none, loads the keys, and polls for changes. */
    async start(): Promise<void> {
      const now = clock();
      if ((await findKeys(prisma)).length === 0) await insertFirstKey(prisma, generateKey(box, now, now));
      await refresh();
      // Open the private key now, so that wrong ENCRYPTION_KEYS fail the start rather than the first login.
      getActiveKey();
      polling.start();
    },

    stop: polling.stop,
  };
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;
