import { canDelegateScope, canServiceAccountHoldScope, toDigest } from '@platform/auth';
import { type Clock, createBatcher } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { findConnectionBreaches, getLatestEnd } from '../connection-policy/policy.js';
import type { SigningKeys } from '../../credentials/signing-keys/service.js';
import {
  type AccessTokenOwner,
  type AccessTokenSource,
  createOwnerLookup,
} from './access-token-owners.sql.js';
import { insertAccessTokens, type NewAccessToken, recordGrantAddress } from './access-tokens.sql.js';
import { ISSUANCE_BATCH } from './issuance-batch.js';

/** The lifetime is short because the claims of a token are fixed; liveness ends it at once anyway. */
export const ACCESS_TOKEN_SECONDS = 600;

export interface IssuedAccessToken {
  readonly token: string;
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
}

export interface AccessTokenRequest {
  readonly source: AccessTokenSource;
  /** The scopes to grant; scopes that its owner or its application may not have are left out. */
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** The token that this one is exchanged for. */
  readonly parentId?: string;
  readonly maxSeconds?: number;
  /** The thumbprint of the key that the token is bound to (RFC 9449). */
  readonly keyThumbprint?: string | undefined;
  /** The address of the client; undefined when it is the platform that asks. */
  readonly address?: string;
}

const canHold = (
  { isServiceAccount, role, clientScopes, deniedScopes }: AccessTokenOwner,
  scope: string,
): boolean =>
  !deniedScopes.includes(scope) &&
  (clientScopes?.includes(scope) ?? true) &&
  (isServiceAccount ? canServiceAccountHoldScope(scope, role) : canDelegateScope(scope, role));

/** @returns when the owner's tokens end at the latest, in milliseconds since the epoch; undefined when it is over. */
function findEnd(
  { connection, expiresAt }: AccessTokenOwner,
  { now, clientHosts }: { readonly now: number; readonly clientHosts: readonly string[] },
): number | undefined {
  const granted = expiresAt ?? Number.POSITIVE_INFINITY;
  if (!connection) return granted;
  const { policy, createdAt } = connection;
  if (findConnectionBreaches(policy, connection, { now, clientHosts }).length > 0) return undefined;
  return Math.min(granted, getLatestEnd(policy, createdAt.getTime()));
}

export function createAccessTokens(deps: {
  readonly pool: pg.Pool;
  readonly keys: SigningKeys;
  /** The hosts of documents that the operator allows. */
  readonly clientHosts: readonly string[];
  readonly clock: Clock;
}) {
  const { pool, keys, clientHosts, clock } = deps;
  const findOwner = createOwnerLookup(pool, clock);
  /** Tokens of the same moment are stored in one statement, so that they wait for one commit. */
  const store = createBatcher({
    toKey: ({ id }: NewAccessToken) => id,
    async load(tokens) {
      await insertAccessTokens(pool, tokens);
      return tokens;
    },
    ...ISSUANCE_BATCH,
  });
  return {
    /**
     * Issues an access token and stores its hash before it returns, so that liveness, revocation and last use hold for it
     * as for every credential. It is signed with the key that is active now.
     *
     * @returns undefined when the grant, its member, the client or its service account has ended, or the organisation does
     *   not allow the connection any more.
     */
    async issue(request: AccessTokenRequest): Promise<IssuedAccessToken | undefined> {
      const { source, scopes, audiences, parentId, keyThumbprint: jkt, address } = request;
      const { maxSeconds = ACCESS_TOKEN_SECONDS } = request;
      const now = clock();
      const owner = await findOwner(source);
      const end = owner && findEnd(owner, { now, clientHosts });
      if (!owner || end === undefined) return undefined;
      const granted = scopes.filter((scope) => canHold(owner, scope));
      const iat = Math.floor(now / 1_000);
      const exp = Math.min(iat + maxSeconds, Math.floor(end / 1_000));
      const id = uuidv7();
      const { clientId } = source;
      const { token } = await keys.mint({
        sub: owner.id,
        org: owner.orgId,
        jti: id,
        kind: 'oauth',
        client_id: clientId,
        aud: [...audiences],
        ...(jkt !== undefined && { cnf: { jkt } }),
        scope: granted.join(' '),
        iat,
        exp,
      });
      await store({
        id,
        clientId,
        grantId: source.grantId ?? null,
        serviceAccountId: owner.isServiceAccount ? owner.id : null,
        parentId: parentId ?? null,
        scopes: granted,
        audiences,
        tokenHash: toDigest(token),
        createdAt: new Date(now),
        expiresAt: new Date(exp * 1_000),
      });
      if (source.grantId !== undefined && address !== undefined)
        await recordGrantAddress(pool, source.grantId, address);
      return { token, scopes: granted, expiresInSeconds: exp - iat };
    },
  };
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;
