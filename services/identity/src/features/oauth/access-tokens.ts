import { canDelegateScope, canServiceAccountHoldScope, toDigest } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { SigningKeys, SignJwt } from '../signing-keys/service.js';
import {
  type AccessTokenOwner,
  type AccessTokenSource,
  findOwner,
  insertAccessToken,
  recordGrantAddress,
} from './access-tokens.queries.js';

/** The lifetime is short because the claims of a token are fixed; liveness ends it at once anyway. */
export const ACCESS_TOKEN_SECONDS = 600;

export interface IssuedAccessToken {
  readonly token: string;
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
}

export interface AccessTokenRequest {
  readonly source: AccessTokenSource;
  /** The scopes to grant; those that the owner's role no longer allows are left out. */
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** The token that this one is exchanged for. */
  readonly parentId?: string;
  readonly maxSeconds?: number;
  /** The address of the client; undefined when it is the platform that asks. */
  readonly address?: string;
}

const canHold = ({ isServiceAccount, role, deniedScopes }: AccessTokenOwner, scope: string): boolean =>
  !deniedScopes.includes(scope) &&
  (isServiceAccount ? canServiceAccountHoldScope(scope, role) : canDelegateScope(scope, role));

export interface AccessTokens {
  /**
   * Issues an access token and stores its hash before it returns, so that liveness, revocation and last use hold for it
   * as for every credential. It is signed with the key that is active now.
   *
   * @returns undefined when the grant, its member, the client or its service account has ended.
   */
  issue(request: AccessTokenRequest): Promise<IssuedAccessToken | undefined>;
}

export function createAccessTokens(deps: {
  readonly pool: pg.Pool;
  readonly keys: SigningKeys;
  readonly signJwt: SignJwt;
  readonly clock: Clock;
}): AccessTokens {
  const { pool, keys, signJwt, clock } = deps;
  return {
    async issue({ source, scopes, audiences, parentId, maxSeconds = ACCESS_TOKEN_SECONDS, address }) {
      const now = clock();
      const owner = await findOwner(pool, source, new Date(now));
      if (!owner) return undefined;
      const granted = scopes.filter((scope) => canHold(owner, scope));
      const iat = Math.floor(now / 1_000);
      const latest =
        owner.expiresAt === null ? Number.POSITIVE_INFINITY : Math.floor(owner.expiresAt / 1_000);
      const exp = Math.min(iat + maxSeconds, latest);
      const id = uuidv7();
      const { clientId } = source;
      const { token } = keys.mint(
        {
          sub: owner.id,
          org: owner.orgId,
          jti: id,
          kind: 'oauth',
          client_id: clientId,
          aud: [...audiences],
          scope: granted.join(' '),
          iat,
          exp,
        },
        signJwt,
      );
      await insertAccessToken(pool, {
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
