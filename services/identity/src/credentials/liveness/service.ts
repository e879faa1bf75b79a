import {
  type AccountGroup,
  type Bounds,
  type CredentialClaims,
  type CredentialKind,
  type Liveness,
  type LiveOwner,
  type SignedCredential,
} from '@platform/auth';
import { type Clock, createBatcher, dependencyUnavailable } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { compileList, contains } from '../allow-lists/compiled-list.js';
import { toComparable } from '../allow-lists/ranges.js';
import { LIVENESS_CONNECTIONS } from '../../resources.js';
import type { LastUsed } from './last-used.js';
import { findLiveCredentials, type LivenessRow } from './liveness.sql.js';
import type { RefusedUses } from './refused-uses.js';

const MAX_BATCH = 500;

interface Use {
  readonly credential: SignedCredential;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | undefined;
}

/** In characters: an account can be in 200 groups. */
const MAX_PARSED_LENGTH = 2_000_000;

/** Parsing costs more than finding what was parsed before: many credentials have the same bounds, or owners in the same groups. */
function createParser<T extends object>(parse: (text: string) => T): (text: string) => T {
  const parsed = new LRUCache<string, T>({
    maxSize: MAX_PARSED_LENGTH,
    sizeCalculation: (_value, text) => text.length,
  });
  return (text) => {
    let value = parsed.get(text);
    if (!value) parsed.set(text, (value = parse(text)));
    return value;
  };
}

const parseBounds = createParser((text) => JSON.parse(text) as Bounds);

export const parseGroups = createParser((lines): readonly AccountGroup[] =>
  lines.split('\n').map((line) => {
    const [id = '', source = '', ...name] = line.split(' ');
    return { id, source, name: name.join(' ') };
  }),
);

/** An unknown address is in no list. */
const isAllowed = (address: string | null, list: string | null): boolean =>
  list === null || (address !== null && contains(compileList(list), address));

const toHolder = ({ kind, jti, client_id: clientId, sub }: CredentialClaims): string =>
  kind === 'oauth' ? `${clientId} ${sub}` : jti;

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
}): Liveness {
  function recordRefusal({ credential, address, userAgent }: Use, isLive: boolean): void {
    const { claims, digest } = credential;
    const { kind, jti: tokenId } = claims;
    // Access tokens of clients expire after minutes, so using one later is nothing unusual.
    if (kind !== 'pat' && (kind !== 'oauth' || !isLive)) return;
    const use = { tokenId, digest, address, userAgent, kind, holder: toHolder(claims) };
    deps.refusedUses.record(use, isLive ? 'address' : 'ended');
  }

  function recordUse({ credential, address, userAgent }: Use): void {
    const { kind, jti: tokenId } = credential.claims;
    if (kind === 'pat') deps.lastUsed.record({ tokenId, address, userAgent });
    if (kind === 'oauth') deps.accessTokensUsed.record({ tokenId, address, userAgent });
  }

  function toLiveOwner(use: Use, row: LivenessRow | undefined): LiveOwner | undefined {
    if (!row) {
      recordRefusal(use, false);
      return undefined;
    }
    const [
      ,
      role,
      email,
      fullName,
      narrowedScope,
      allowList,
      orgAllowList,
      isServiceAccount,
      groups,
      bounds,
    ] = row;
    if (!isAllowed(use.address, allowList) || !isAllowed(use.address, orgAllowList)) {
      recordRefusal(use, true);
      return undefined;
    }
    recordUse(use);
    return {
      role,
      email,
      fullName,
      isServiceAccount,
      ...(groups !== null && { groups: parseGroups(groups) }),
      ...(bounds !== null && { bounds: parseBounds(bounds) }),
      ...(narrowedScope !== null && { scopes: new Set(narrowedScope.split(' ')) }),
    };
  }

  async function load(credentials: readonly SignedCredential[]): Promise<(LivenessRow | undefined)[]> {
    const idsByKind: Partial<Record<CredentialKind, string[]>> = {};
    for (const { claims } of credentials) (idsByKind[claims.kind] ??= []).push(claims.jti);
    const rows = await findLiveCredentials(deps.pool, idsByKind, new Date(deps.clock())).catch(
      (error: unknown) => {
        throw dependencyUnavailable('database', error);
      },
    );
    const byHash = new Map(rows.map((row) => [row[0], row]));
    return credentials.map(({ digest }) => byHash.get(digest));
  }

  const findRow = createBatcher({
    toKey: ({ digest }: SignedCredential) => digest,
    load,
    maxBatch: MAX_BATCH,
    maxInFlight: LIVENESS_CONNECTIONS,
  });
  return async (credential, { address, userAgent } = {}) => {
    const row = await findRow(credential);
    return toLiveOwner({ credential, address: toComparable(address), userAgent }, row);
  };
}
