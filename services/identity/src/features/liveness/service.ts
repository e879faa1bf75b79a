import { timingSafeEqual } from 'node:crypto';
import {
  canHoldScope,
  canServiceAccountHoldScope,
  type CredentialClaims,
  type CredentialKind,
  type Liveness,
  type LiveOwner,
  type SignedCredential,
} from '@platform/auth';
import { type Clock, createBatcher, dependencyUnavailable } from '@platform/service-kit';
import type pg from 'pg';
import { contains, toComparable } from '../allow-lists/ranges.js';
import { LIVENESS_CONNECTIONS } from '../../resources.js';
import type { CatalogueVersions } from './catalogue-versions.js';
import type { LastUsed } from './last-used.js';
import { findLiveCredentials, type LivenessRow } from './queries.js';
import type { RefusedUses } from './refused-uses.js';
import type { TokenUse } from './refused-uses.queries.js';

const MAX_BATCH = 500;

const isSame = (stored: string, digest: string): boolean =>
  stored.length === digest.length && timingSafeEqual(Buffer.from(stored), Buffer.from(digest));

interface Use {
  readonly credential: SignedCredential;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | undefined;
  readonly requiredScopes: readonly string[];
}

/** Returns whether the allow lists of the credential and of its organisation contain the address. An unknown one is in none. */
const isAllowed = (address: string | null, [, , , , , , allowList, orgAllowList]: LivenessRow): boolean =>
  [allowList, orgAllowList].every((list) => list === null || (address !== null && contains(list, address)));

const toHolder = ({ kind, jti, client_id: clientId, sub }: CredentialClaims): string =>
  kind === 'oauth' ? `${clientId} ${sub}` : jti;

const toTokenUse = ({ credential, address, userAgent }: Use): TokenUse => ({
  tokenId: credential.claims.jti,
  digest: credential.digest,
  address,
  userAgent,
});

/** Returns the scopes that the request needs; none when the token lacks one, because its guard refuses the request. */
function toUsedScopes({ credential, requiredScopes }: Use, { scopes, role, isServiceAccount }: LiveOwner) {
  const granted = scopes ?? credential.scopes;
  const canHold = isServiceAccount ? canServiceAccountHoldScope : canHoldScope;
  return requiredScopes.every((scope) => granted.has(scope) && canHold(scope, role)) ? requiredScopes : [];
}

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
  const getIds = (credentials: readonly SignedCredential[], kind: CredentialKind) =>
    credentials.filter(({ claims }) => claims.kind === kind).map(({ claims }) => claims.jti);

  function toLiveOwner(use: Use, row: LivenessRow | undefined): LiveOwner | undefined {
    const { claims, digest } = use.credential;
    const isLive = row !== undefined && isSame(row[1], digest);
    if (!isLive || !isAllowed(use.address, row)) {
      const cause = isLive ? 'address' : 'ended';
      const { kind } = claims;
      // Access tokens of clients end after minutes: one that is used later is nothing unusual.
      if (kind === 'pat' || (kind === 'oauth' && cause === 'address'))
        deps.refusedUses.record({ ...toTokenUse(use), kind, holder: toHolder(claims) }, cause);
      return undefined;
    }
    if (claims.org !== undefined) deps.catalogueVersions.record(claims.org, row[9]);
    const account = { role: row[2], email: row[3], fullName: row[4], isServiceAccount: row[8] };
    const owner = row[5] === null ? account : { ...account, scopes: new Set(row[5].split(' ')) };
    if (claims.kind === 'pat') deps.lastUsed.record({ ...toTokenUse(use), scopes: toUsedScopes(use, owner) });
    if (claims.kind === 'oauth') deps.accessTokensUsed.record({ ...toTokenUse(use), scopes: [] });
    return owner;
  }

  async function load(credentials: readonly SignedCredential[]): Promise<(LivenessRow | undefined)[]> {
    try {
      const found = await findLiveCredentials(deps.pool, {
        tokenIds: getIds(credentials, 'pat'),
        sessionIds: getIds(credentials, 'session'),
        serviceCredentialIds: getIds(credentials, 'service'),
        accessTokenIds: getIds(credentials, 'oauth'),
        now: new Date(deps.clock()),
      });
      const rows = new Map(found.map((row) => [row[0], row]));
      return credentials.map(({ claims }) => rows.get(claims.jti));
    } catch (error) {
      throw dependencyUnavailable('database', error);
    }
  }

  const loadRow = createBatcher({
    toKey: ({ digest }: SignedCredential) => digest,
    load,
    maxBatch: MAX_BATCH,
    maxInFlight: LIVENESS_CONNECTIONS,
  });
  return async (credential, { address, userAgent, requiredScopes = [] } = {}) =>
    toLiveOwner(
      { credential, address: toComparable(address), userAgent, requiredScopes },
      await loadRow(credential),
    );
}
