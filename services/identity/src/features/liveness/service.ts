import { timingSafeEqual } from 'node:crypto';
import {
  type CredentialClaims,
  type CredentialKind,
  type Liveness,
  type LiveOwner,
  type SignedCredential,
} from '@platform/auth';
import { type Clock, createBatcher, dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';
import { toComparable } from '../allow-lists/ranges.js';
import { LIVENESS_CONNECTIONS } from '../../resources.js';
import type { CatalogueVersions } from '../mcp-servers/catalogue-versions.js';
import type { LastUsed } from './last-used.js';
import { findLiveCredentials, type LivenessRow } from './queries.js';
import type { RefusedUses } from './refused-uses.js';
import type { TokenUse } from './refused-uses.queries.js';

const MAX_BATCH = 500;

const isSame = (stored: string, digest: string): boolean =>
  stored.length === digest.length && timingSafeEqual(Buffer.from(stored), Buffer.from(digest));

interface Query {
  readonly credential: SignedCredential;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | undefined;
}

const toUsedToken = ({ credential, address }: Query) => ({ id: credential.claims.jti, address });

const toHolder = ({ kind, jti, client_id: clientId, sub }: CredentialClaims): string =>
  kind === 'oauth' ? `${clientId} ${sub}` : jti;

const toUse = ({ credential, address, userAgent }: Query): TokenUse => ({
  tokenId: credential.claims.jti,
  digest: credential.digest,
  address,
  userAgent,
});

/**
 * Checks liveness in the database for every verification; the checks of one event-loop turn share a statement. The
 * stored SHA-256 must be that of the presented token, so that a leaked signing key isn't enough to forge a credential.
 */
export function createDatabaseLiveness(deps: {
  readonly pool: pg.Pool;
  readonly lastUsed: Pick<LastUsed, 'record'>;
  /** Collects the uses of OAuth access tokens. */
  readonly accessTokensUsed: Pick<LastUsed, 'record'>;
  readonly refusedUses: Pick<RefusedUses, 'record'>;
  readonly clock: Clock;
  readonly catalogueVersions: Pick<CatalogueVersions, 'record'>;
}): Liveness {
  const getUses = (queries: readonly Query[], kind: CredentialKind) =>
    queries.filter(({ credential }) => credential.claims.kind === kind);
  const getIds = (queries: readonly Query[], kind: CredentialKind) =>
    getUses(queries, kind).map(({ credential }) => credential.claims.jti);

  function toLiveOwner(query: Query, row: LivenessRow | undefined): LiveOwner | undefined {
    const { claims, digest } = query.credential;
    if (!row || !isSame(row[1], digest) || !row[6]) {
      const cause = row?.[6] === false ? 'address' : 'ended';
      const { kind } = claims;
      // Access tokens of clients end after minutes: one that is used later is nothing unusual.
      if (kind === 'pat' || (kind === 'oauth' && cause === 'address'))
        deps.refusedUses.record({ ...toUse(query), kind, holder: toHolder(claims) }, cause);
      return undefined;
    }
    if (claims.org !== undefined) deps.catalogueVersions.record(claims.org, row[8]);
    if (claims.kind === 'pat') deps.lastUsed.record(toUse(query));
    if (claims.kind === 'oauth') deps.accessTokensUsed.record(toUse(query));
    const owner = { role: row[2], email: row[3], fullName: row[4], isServiceAccount: row[7] };
    return row[5] === null ? owner : { ...owner, scopes: new Set(row[5].split(' ')) };
  }

  async function load(queries: readonly Query[]): Promise<(LiveOwner | undefined)[]> {
    try {
      const tokens = getUses(queries, 'pat');
      const accessTokens = getUses(queries, 'oauth');
      const found = await findLiveCredentials(deps.pool, {
        tokens: tokens.map(toUsedToken),
        accessTokens: accessTokens.map(toUsedToken),
        sessionIds: getIds(queries, 'session'),
        serviceCredentialIds: getIds(queries, 'service'),
        now: new Date(deps.clock()),
      });
      const rows = new Map(found.map((row) => [row[0], row]));
      const positions = new Map([
        ...tokens.map((query, index) => [query, String(index + 1)] as const),
        ...accessTokens.map((query, index) => [query, `o${index + 1}`] as const),
      ]);
      return queries.map((query) =>
        toLiveOwner(query, rows.get(positions.get(query) ?? query.credential.claims.jti)),
      );
    } catch (error) {
      throw dependencyUnavailable('database', error);
    }
  }

  const getLiveness = createBatcher({
    toKey: ({ credential, address }: Query) => `${credential.digest} ${address}`,
    load,
    maxBatch: MAX_BATCH,
    maxInFlight: LIVENESS_CONNECTIONS,
  });
  return (credential, { address, userAgent } = {}) =>
    getLiveness({ credential, address: toComparable(address), userAgent });
}
