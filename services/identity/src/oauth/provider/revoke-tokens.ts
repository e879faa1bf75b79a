import type { SignedCredential } from '@platform/auth';
import type OidcProvider from 'oidc-provider';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type pg from 'pg';
import { revokeAccessToken } from './access-tokens.sql.js';
import type { GrantStore } from './adapter.js';

/**
 * Revokes access tokens (RFC 7009). The provider authenticates the client and refuses JWTs then, because it keeps no
 * record of them; the platform does. Unknown tokens and those of other clients are answered like revoked ones.
 */
export function revokeTokens(
  provider: OidcProvider,
  deps: {
    readonly pool: pg.Pool;
    readonly clock: () => number;
    readonly grants: GrantStore;
    readonly checkSignature: (token: string) => SignedCredential | undefined;
  },
): void {
  const { pool, clock, grants, checkSignature } = deps;
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next();
    const body = ctx.body as { readonly error?: string } | undefined;
    if (ctx.oidc?.route !== 'revocation' || body?.error !== 'unsupported_token_type') return;
    const { client, params } = ctx.oidc;
    const token = params?.['token'];
    if (!client || typeof token !== 'string') throw new errors.InvalidRequest('token is missing');
    const credential = checkSignature(token);
    if (credential?.claims.kind === 'oauth') {
      const { jti: id } = credential.claims;
      const revoked = await revokeAccessToken(pool, { id, clientId: client.clientId, at: new Date(clock()) });
      // As for an opaque token, the refresh tokens of the grant end too.
      if (revoked !== undefined) await grants.end(revoked, true);
    }
    ctx.status = 200;
    ctx.body = '';
  });
}
