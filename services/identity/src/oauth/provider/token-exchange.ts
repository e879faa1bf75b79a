import { type CredentialClaims, invalidCredential, standardAuthErrors } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { AccessTokens } from './access-tokens.js';
import { findAccessTokenSource } from './access-tokens.sql.js';
import { serviceScopes } from './protected-resources.js';

/** The lifetime of an exchanged token, and how long it is used: several calls of an agent come together. */
const LIFETIME_SECONDS = 60;
const REUSE_MS = 45_000;
const MAX_CACHED = 5_000;

/** The claims were verified when the token arrived. */
const readClaims = (token: string): CredentialClaims =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as CredentialClaims;

/**
 * Returns the credential with which a tool calls a service for a caller: for an access token, a token that is valid for this
 * service alone and has only the scopes that it knows. It ends with the caller's token. Sessions and personal access
 * tokens name no audience, and are passed on.
 *
 * @throws AppError 401 when the caller's token has ended.
 */
type ExchangeToken = (token: string) => Promise<string>;

/** Returns the exchange for calls of a service. */
export type ExchangeFor = (service: keyof typeof serviceScopes) => ExchangeToken;

export function createTokenExchange(deps: {
  readonly pool: pg.Pool;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
}): ExchangeFor {
  const { pool, accessTokens, clock } = deps;

  async function issue(service: keyof typeof serviceScopes, claims: CredentialClaims): Promise<string> {
    const source = await findAccessTokenSource(pool, claims.jti);
    const secondsLeft = (claims.exp ?? 0) - Math.floor(clock() / 1_000);
    const known: readonly string[] = serviceScopes[service];
    const scopes = (claims.scope ?? '').split(' ').filter((name) => known.includes(name));
    const issued =
      source && secondsLeft > 0
        ? await accessTokens.issue({
            source,
            scopes,
            audiences: [service],
            parentId: claims.jti,
            maxSeconds: Math.min(LIFETIME_SECONDS, secondsLeft),
          })
        : undefined;
    if (!issued) throw invalidCredential(standardAuthErrors);
    return issued.token;
  }

  return (service) => {
    const cache = new LRUCache<string, { readonly token: Promise<string>; readonly until: number }>({
      max: MAX_CACHED,
    });
    return async (token) => {
      const claims = readClaims(token);
      if (claims.kind !== 'oauth') return token;
      const known = cache.get(claims.jti);
      if (known && clock() < known.until) return known.token;
      const exchanged = issue(service, claims);
      const endsAt = (claims.exp ?? 0) * 1_000;
      cache.set(claims.jti, { token: exchanged, until: Math.min(clock() + REUSE_MS, endsAt) });
      exchanged.catch(() => cache.delete(claims.jti));
      return exchanged;
    };
  };
}
