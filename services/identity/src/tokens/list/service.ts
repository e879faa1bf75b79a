import type { UserPrincipal } from '@platform/auth';
import { type Clock, DAY_MS, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { toAdminToken } from '../create/service.js';
import type { AdminToken } from '../create/schemas.js';
import type { TokenDetails } from '../edit/schemas.js';
import { toDetails } from '../edit/service.js';
import { searchTokens } from './queries.js';
import type { OrgTokenQuery, OwnTokenQuery } from './schemas.js';

const DEFAULT_LIMIT = 20;

interface Found<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

function readInstant(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw validationError([{ field, message: 'must be an instant, such as 2026-01-31T00:00:00Z' }]);
}

/** Creates the service that finds tokens by their filters. */
export function createTokenSearch(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  /** The number of days for which revoked and expired tokens are shown. */
  readonly historyDays: number;
}) {
  async function find(orgId: string, ownerId: string | undefined, query: OwnTokenQuery) {
    const now = deps.clock();
    const found = await searchTokens(deps.pool, {
      orgId,
      ownerId,
      state: query.state ?? 'active',
      text: query.q,
      scope: query.scope,
      unusedSince: readInstant('unusedSince', query.unusedSince),
      expiresBefore: readInstant('expiresBefore', query.expiresBefore),
      after: query.cursor,
      limit: query.limit ?? DEFAULT_LIMIT,
      now: new Date(now),
      endedAfter: new Date(now - deps.historyDays * DAY_MS),
    });
    return { ...found, now };
  }
  return {
    /** Finds own tokens, newest first. @throws AppError 400 for a time that isn't an instant. */
    async findOwn({ orgId, userId }: UserPrincipal, query: OwnTokenQuery): Promise<Found<TokenDetails>> {
      const { rows, nextCursor, now } = await find(orgId, userId, query);
      return { items: rows.map((row) => toDetails(row, now)), nextCursor };
    },
    /** Does the same for the tokens of the organisation. */
    async findForOrganisation(
      { orgId }: UserPrincipal,
      { owner, page = 1, ...query }: OrgTokenQuery,
    ): Promise<Found<TokenDetails & AdminToken>> {
      if (page > 1)
        throw validationError([{ field: 'page', message: 'goes without filters: page a search by cursor' }]);
      const { rows, nextCursor, now } = await find(orgId, owner, query);
      return {
        items: rows.map((row) => ({ ...toAdminToken(row, now), ...toDetails(row, now) })),
        nextCursor,
      };
    },
  };
}
export type TokenSearchService = ReturnType<typeof createTokenSearch>;
