import { timingSafeEqual } from 'node:crypto';
import {
  createBatcher,
  type CredentialKind,
  type Liveness,
  type LiveOwner,
  type SignedCredential,
} from '@platform/auth';
import { type Clock, dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';
import { LIVENESS_CONNECTIONS } from '../../resources.js';
import type { LastUsed } from './last-used.js';
import { findLiveCredentials, type LivenessRow } from './queries.js';

const MAX_BATCH = 500;

const isSame = (stored: string, digest: string): boolean =>
  stored.length === digest.length && timingSafeEqual(Buffer.from(stored), Buffer.from(digest));

/**
 * Checks liveness in the database for every verification; the checks of one event-loop turn share a statement. The
 * stored SHA-256 must be that of the presented token, so that a leaked signing key isn't enough to forge a credential.
 */
export function createDatabaseLiveness(deps: {
  readonly pool: pg.Pool;
  readonly lastUsed: LastUsed;
  readonly clock: Clock;
}): Liveness {
  const getIds = (credentials: readonly SignedCredential[], kind: CredentialKind) =>
    credentials.filter(({ claims }) => claims.kind === kind).map(({ claims }) => claims.jti);

  function toLiveOwner(
    { claims, digest }: SignedCredential,
    row: LivenessRow | undefined,
  ): LiveOwner | undefined {
    if (!row || !isSame(row[1], digest)) return undefined;
    if (claims.kind === 'pat') deps.lastUsed.record(claims.jti);
    const owner = { role: row[2], email: row[3], fullName: row[4] };
    return row[5] === null ? owner : { ...owner, scopes: new Set(row[5].split(' ')) };
  }

  async function load(credentials: readonly SignedCredential[]): Promise<(LiveOwner | undefined)[]> {
    try {
      const found = await findLiveCredentials(
        deps.pool,
        getIds(credentials, 'pat'),
        getIds(credentials, 'session'),
        getIds(credentials, 'service'),
        new Date(deps.clock()),
      );
      const rows = new Map(found.map((row) => [row[0], row]));
      return credentials.map((credential) => toLiveOwner(credential, rows.get(credential.claims.jti)));
    } catch (error) {
      throw dependencyUnavailable('database', error);
    }
  }

  return createBatcher({
    toKey: ({ digest }) => digest,
    load,
    maxBatch: MAX_BATCH,
    maxInFlight: LIVENESS_CONNECTIONS,
  });
}
