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
import { contains } from '../allow-lists/compiled-list.js';
import { toComparable } from '../allow-lists/ranges.js';
import { LIVENESS_CONNECTIONS } from '../../resources.js';
import { createAllowLists, type LoadedList, type NeededList } from './allow-lists.js';
import type { CatalogueVersions } from './catalogue-versions.js';
import type { LastUsed } from './last-used.js';
import { findLiveCredentials, type LivenessRow } from './queries.js';
import type { RefusedUses } from './refused-uses.js';

const MAX_BATCH = 500;

interface Use {
  readonly credential: SignedCredential;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | undefined;
  readonly requiredScopes: readonly string[];
}

/** The stored data of a live credential. */
interface Found {
  readonly row: LivenessRow;
  /** The allow lists of the batch by the id of their holder; none for a holder that was deleted meanwhile. */
  readonly allowLists: ReadonlyMap<string, LoadedList>;
}

/** An unknown address is in no list. */
function isAllowed(
  address: string | null,
  { claims }: SignedCredential,
  { row, allowLists }: Found,
): boolean {
  const isAllowedBy = (hash: string | null, holderId = ''): boolean => {
    if (hash === null) return true;
    const list = allowLists.get(holderId);
    return list === null || (list !== undefined && address !== null && contains(list, address));
  };
  return isAllowedBy(row[5], claims.jti) && isAllowedBy(row[6], claims.org);
}

/** Returns the allow lists that the credentials of a batch need. */
function toNeededLists(
  credentials: readonly SignedCredential[],
  rows: ReadonlyMap<string, LivenessRow>,
): NeededList[] {
  const lists: NeededList[] = [];
  for (const { claims, digest } of credentials) {
    const [, , , , , hash = null, orgHash = null] = rows.get(digest) ?? [];
    if (hash !== null) lists.push({ holder: 'token', id: claims.jti, hash });
    if (orgHash !== null) lists.push({ holder: 'organisation', id: claims.org ?? '', hash: orgHash });
  }
  return lists;
}

const toHolder = ({ kind, jti, client_id: clientId, sub }: CredentialClaims): string =>
  kind === 'oauth' ? `${clientId} ${sub}` : jti;

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
  const loadAllowLists = createAllowLists(deps.pool);

  function recordRefusal({ credential, address, userAgent }: Use, isLive: boolean): void {
    const { claims, digest } = credential;
    const { kind, jti: tokenId } = claims;
    // Access tokens of clients end after minutes: one that is used later is nothing unusual.
    if (kind !== 'pat' && (kind !== 'oauth' || !isLive)) return;
    const use = { tokenId, digest, address, userAgent, kind, holder: toHolder(claims) };
    deps.refusedUses.record(use, isLive ? 'address' : 'ended');
  }

  function recordUse(use: Use, owner: LiveOwner): void {
    const { kind, jti: tokenId } = use.credential.claims;
    const { address, userAgent } = use;
    if (kind === 'pat')
      deps.lastUsed.record({ tokenId, address, userAgent, scopes: toUsedScopes(use, owner) });
    if (kind === 'oauth') deps.accessTokensUsed.record({ tokenId, address, userAgent, scopes: [] });
  }

  function toLiveOwner(use: Use, found: Found | undefined): LiveOwner | undefined {
    const { claims } = use.credential;
    if (!found || !isAllowed(use.address, use.credential, found)) {
      recordRefusal(use, found !== undefined);
      return undefined;
    }
    const [, role, email, fullName, narrowedScope, , , isServiceAccount, catalogueVersion] = found.row;
    if (claims.org !== undefined) deps.catalogueVersions.record(claims.org, catalogueVersion);
    const account = { role, email, fullName, isServiceAccount };
    const owner =
      narrowedScope === null ? account : { ...account, scopes: new Set(narrowedScope.split(' ')) };
    recordUse(use, owner);
    return owner;
  }

  async function findRows(credentials: readonly SignedCredential[]): Promise<Map<string, LivenessRow>> {
    const idsByKind: Partial<Record<CredentialKind, string[]>> = {};
    for (const { claims } of credentials) (idsByKind[claims.kind] ??= []).push(claims.jti);
    const rows = await findLiveCredentials(deps.pool, idsByKind, new Date(deps.clock()));
    return new Map(rows.map((row) => [row[0], row]));
  }

  async function load(credentials: readonly SignedCredential[]): Promise<(Found | undefined)[]> {
    try {
      const rows = await findRows(credentials);
      const allowLists = await loadAllowLists(toNeededLists(credentials, rows));
      return credentials.map(({ digest }) => {
        const row = rows.get(digest);
        return row && { row, allowLists };
      });
    } catch (error) {
      throw dependencyUnavailable('database', error);
    }
  }

  const loadFound = createBatcher({
    toKey: ({ digest }: SignedCredential) => digest,
    load,
    maxBatch: MAX_BATCH,
    maxInFlight: LIVENESS_CONNECTIONS,
  });
  return async (credential, { address, userAgent, requiredScopes = [] } = {}) => {
    const found = await loadFound(credential);
    return toLiveOwner({ credential, address: toComparable(address), userAgent, requiredScopes }, found);
  };
}
