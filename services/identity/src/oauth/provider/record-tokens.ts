import { createServerErrorLog, type Logger } from '@platform/service-kit';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { AccessTokenRequest, AccessTokens, IssuedAccessToken } from './access-tokens.js';
import type { AccessTokenSource } from './access-token-owners.sql.js';
import type pg from 'pg';
import { deleteArtifact, hashArtifactId, releaseArtifact } from './artifacts.sql.js';
import { refuseForNow } from './faults.js';
import type { ProtectedResources } from './protected-resources.js';
import { settleSuccessor } from './refresh-rotation.js';

/** The token that the provider has granted in this request. */
interface Issued {
  readonly source: AccessTokenSource;
  /** Undefined when an application named none: it gets all that it has (RFC 6749 §3.3). */
  readonly scopes: readonly string[] | undefined;
  readonly resource: string | undefined;
  readonly keyThumbprint: string | undefined;
}

function readIssued({ oidc }: KoaContextWithOIDC): Issued | undefined {
  const { AccessToken, ClientCredentials, Client } = oidc.entities;
  const token = AccessToken ?? ClientCredentials;
  if (!token || !Client) return undefined;
  const source = AccessToken
    ? { grantId: AccessToken.grantId, clientId: Client.clientId }
    : { clientId: Client.clientId };
  const [resource] = [token.aud].flat();
  // The provider leaves `scope` out both when none was named and when the resource has none of them.
  const isUnnamed = AccessToken === undefined && oidc.params?.['scope'] === undefined;
  const scopes = isUnnamed ? undefined : (token.scope?.split(' ') ?? []);
  return { source: source as AccessTokenSource, scopes, resource, keyThumbprint: token.jkt };
}

/** Returns the error response for a request that got no token (RFC 6749 §5.2). */
function toRefusal(
  token: IssuedAccessToken | undefined,
  scopes: readonly string[] | undefined,
  issued: Issued | undefined,
): readonly [status: number, error: string, description: string] {
  if (token || scopes?.length === 0) return [400, 'invalid_scope', 'none of the scopes can be granted'];
  return issued?.source.grantId === undefined
    ? [401, 'invalid_client', 'the application is disabled or was removed']
    : [400, 'invalid_grant', 'the grant has ended, or the refresh token was used'];
}

/**
 * Makes the code usable again when this request has used it and its tokens could not be stored: the client was asked to
 * try again, and its second attempt must not count as a theft of the code.
 */
async function releaseCode(pool: pg.Pool, { oidc, body }: KoaContextWithOIDC): Promise<void> {
  const { code } = oidc.params ?? {};
  // The provider sets the entity once the code is marked as used.
  if (typeof code !== 'string' || !oidc.entities.AuthorizationCode) return;
  const { refresh_token: refreshToken } = body as { readonly refresh_token?: string };
  if (refreshToken !== undefined) await deleteArtifact(pool, 'RefreshToken', hashArtifactId(refreshToken));
  await releaseArtifact(pool, 'AuthorizationCode', hashArtifactId(code));
}

/**
 * Returns the refresh token of the response, which is the same for each use of the presented one; null when that one
 * was superseded meanwhile.
 */
async function findRefreshToken(pool: pg.Pool, { oidc, body }: KoaContextWithOIDC) {
  const { refresh_token: issued } = body as { readonly refresh_token?: string };
  const presented = oidc.params?.['refresh_token'];
  return issued !== undefined && oidc.entities.RotatedRefreshToken && typeof presented === 'string'
    ? settleSuccessor(pool, presented, issued)
    : issued;
}

/**
 * Replaces the provider's own access token by one signed with the platform's key, once its hash is stored: no
 * token is answered that liveness does not know.
 */
export function recordTokens(
  provider: Provider,
  deps: {
    readonly pool: pg.Pool;
    readonly accessTokens: AccessTokens;
    readonly resources: ProtectedResources;
    readonly log: Logger;
  },
): void {
  const { pool, accessTokens, resources, log } = deps;
  const logServerError = createServerErrorLog();
  const logOutage = (error: unknown): null => {
    logServerError(log, { error, message: 'Failed to store an access token', isOutage: true });
    return null;
  };
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next();
    if (ctx.oidc?.route !== 'token') return;
    if (ctx.status >= 500) await releaseCode(pool, ctx).catch(logOutage);
    if (ctx.status !== 200) return;
    const issue = async (request: AccessTokenRequest) => {
      const refreshToken = await findRefreshToken(pool, ctx);
      if (refreshToken === null) return undefined;
      const token = await accessTokens.issue(request);
      return token && { ...token, refreshToken };
    };
    const issued = readIssued(ctx);
    const resource = issued?.resource === undefined ? undefined : resources.find(issued.resource);
    const scopes = (issued?.scopes ?? resource?.scopes)?.filter((name) =>
      resource?.scopes.some((known) => known === name),
    );
    const token =
      issued && resource && scopes?.length
        ? await issue({
            source: issued.source,
            scopes,
            audiences: resource.audiences,
            keyThumbprint: issued.keyThumbprint,
            address: ctx.ip,
          }).catch(logOutage)
        : undefined;
    if (token && token.scopes.length > 0) {
      const { id_token: _unused, ...body } = ctx.body as Record<string, unknown>;
      const { token: access_token, expiresInSeconds: expires_in, refreshToken } = token;
      ctx.body = {
        ...body,
        access_token,
        expires_in,
        scope: token.scopes.join(' '),
        ...(refreshToken !== undefined && { refresh_token: refreshToken }),
      };
      return;
    }
    if (token === null) {
      await releaseCode(pool, ctx).catch(logOutage);
      refuseForNow(ctx);
      return;
    }
    const [status, error, description] = toRefusal(token, scopes, issued);
    ctx.status = status;
    ctx.body = { error, error_description: description };
  });
}
