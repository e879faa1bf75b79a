import { digestOf, PAT_PREFIX, type Scope, scopeCatalogue, type UserPrincipal } from '@platform/auth';
import { type Clock, type Page, type PageQuery, pageWindow, paginationOf } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { SigningKeys, SignJwt } from '../signing-keys/service.js';
import { tokenNotFound } from './errors.js';
import { canGrant, grantExpiry, grantScopes } from './grant.js';
import {
  countActiveTokens,
  findOrgTokens,
  findOwnTokens,
  insertToken,
  type OwnedTokenRow,
  revokeToken,
  type TokenRow,
} from './queries.js';
import type { AdminToken, CreateTokenBody, GrantableScopes, Token } from './schemas.js';

/** Own list: at most this many, the newest (specification, section 8). */
const OWN_LIST_MAX = 100;

export interface OwnPage {
  readonly limit: number;
  /** The id of the last token of the page before. */
  readonly after: string | undefined;
}

export interface TokenService {
  /** @throws AppError 400 when the caller can't grant the scopes or the expiry. */
  create(principal: UserPrincipal, body: CreateTokenBody): Promise<Token & { accessToken: string }>;
  /** The active ones, newest first: the 100 newest, or those that follow a token, as many as `limit`. */
  listOwn(principal: UserPrincipal, page?: OwnPage): Promise<Token[]>;
  listOfOrganisation(principal: UserPrincipal, query: PageQuery): Promise<Page<AdminToken>>;
  grantableScopes(principal: UserPrincipal): GrantableScopes['scopes'];
  /** In force when it returns. @throws AppError 404. */
  revokeOwn(principal: UserPrincipal, tokenId: string, reason: string | undefined): Promise<void>;
  /** Anyone's in the organisation. @throws AppError 404. */
  revokeAny(principal: UserPrincipal, tokenId: string, reason: string | undefined): Promise<void>;
}

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
});

const toAdminToken = (row: OwnedTokenRow): AdminToken => ({
  ...toToken(row),
  userId: row.owner_id,
  ownerEmail: row.email,
  ownerFullName: row.full_name,
  ownerDeleted: row.is_owner_removed,
});

const credentialOf = ({ kind, credentialId: id }: UserPrincipal) => ({ kind, id });

export function createTokenService(deps: {
  readonly pool: pg.Pool;
  readonly keys: SigningKeys;
  readonly signJwt: SignJwt;
  readonly clock: Clock;
  readonly defaultScopes: readonly Scope[];
}): TokenService {
  const { pool, keys, signJwt, clock, defaultScopes } = deps;

  async function revoke(
    principal: UserPrincipal,
    ownerId: string | undefined,
    tokenId: string,
    reason: string | undefined,
  ): Promise<void> {
    const { orgId, userId: actorId } = principal;
    const at = new Date(clock());
    const audit = { auditId: uuidv7(), credential: credentialOf(principal) };
    const revocation = { tokenId, orgId, ownerId, actorId, reason: reason ?? null, at, ...audit };
    if (!(await revokeToken(pool, revocation))) throw tokenNotFound();
  }

  return {
    async create(principal, { name, scopes: requested, expiryDays }) {
      const now = clock();
      const scopes = grantScopes(principal, requested, defaultScopes);
      const expiresAt = grantExpiry(principal, expiryDays, now);
      const { userId: ownerId, orgId } = principal;
      const id = uuidv7();
      const claims = { sub: ownerId, org: orgId, jti: id, kind: 'pat' as const, scope: scopes.join(' ') };
      const times = {
        iat: Math.floor(now / 1_000),
        ...(expiresAt === null ? {} : { exp: expiresAt / 1_000 }),
      };
      const { token, keyId } = keys.mint({ ...claims, ...times }, signJwt);
      const row = { id, orgId, ownerId, name, scopes, tokenHash: digestOf(token), signingKeyId: keyId };
      const createdAt = new Date(now);
      const expiry = expiresAt === null ? null : new Date(expiresAt);
      const audit = { auditId: uuidv7(), credential: credentialOf(principal) };
      await insertToken(pool, { ...row, createdAt, expiresAt: expiry, ...audit });
      return {
        id,
        name,
        scopes,
        lastUsedAt: null,
        createdAt: createdAt.toISOString(),
        expiresAt: expiry?.toISOString() ?? null,
        accessToken: PAT_PREFIX + token,
      };
    },

    listOwn: async ({ userId: ownerId }, page = { limit: OWN_LIST_MAX, after: undefined }) =>
      (await findOwnTokens(pool, { ownerId, now: new Date(clock()), ...page })).map(toToken),

    async listOfOrganisation({ orgId }, query) {
      const now = new Date(clock());
      const total = await countActiveTokens(pool, orgId, now);
      const window = pageWindow(query, total);
      const rows = window ? await findOrgTokens(pool, orgId, now, window) : [];
      return { data: rows.map(toAdminToken), pagination: paginationOf(query, total) };
    },

    grantableScopes: (principal) =>
      scopeCatalogue
        .map(({ category, scopes }) => ({
          category,
          scopes: scopes
            .filter(({ name }) => canGrant(principal, name))
            .map(({ name, description, isAdminOnly }) => ({
              name,
              description,
              default: defaultScopes.includes(name),
              adminOnly: isAdminOnly,
            })),
        }))
        .filter(({ scopes }) => scopes.length > 0),

    revokeOwn: (principal, tokenId, reason) => revoke(principal, principal.userId, tokenId, reason),
    revokeAny: (principal, tokenId, reason) => revoke(principal, undefined, tokenId, reason),
  };
}
