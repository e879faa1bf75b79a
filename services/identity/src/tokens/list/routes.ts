import { getMember, requireMember, requireScopes, requireSession } from '@platform/auth';
import { type App, Pagination } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireTokenAdmin } from '../../base/authority.js';
import { bearer, errorResponses } from '../../base/openapi.js';
import type { TokenService } from '../create/service.js';
import { ListedOrgToken, ListedToken, NextCursor, OrgTokenQuery, OwnTokenQuery } from './schemas.js';
import type { TokenSearchService } from './service.js';

const DEFAULT_LIMIT = 20;

const base = '/api/v1/personal-access-tokens';
const tags = ['Personal access tokens'];

/** The plain lists, which a request without a filter, a limit or a cursor gets. */
type TokenLists = Pick<TokenService, 'listOwn' | 'listForOrganisation'>;

/** Registers the search of members in their own tokens; a token requires `pat:read`. */
export function ownTokenListRoutes(app: App, lists: TokenLists, search: TokenSearchService): void {
  app.get(
    base,
    {
      onRequest: [app.authenticate, requireMember, requireScopes(['pat:read'])],
      schema: {
        operationId: 'listOwnTokens',
        tags,
        summary:
          'The own active tokens, at most the 100 newest; with a filter, a limit or a cursor a page of a search',
        security: bearer,
        querystring: OwnTokenQuery,
        response: {
          200: Type.Object({ tokens: Type.Array(ListedToken), nextCursor: NextCursor }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { query } = request;
      const principal = getMember(request);
      if (Object.keys(query).length === 0) return { tokens: await lists.listOwn(principal) };
      const { items: tokens, nextCursor } = await search.findOwn(principal, query);
      return { tokens, nextCursor };
    },
  );
}

/** Registers that of administrators, with a session. It is checked first, so that every token gets the same 403. */
export function adminTokenListRoutes(app: App, lists: TokenLists, search: TokenSearchService): void {
  app.get(
    `${base}/admin`,
    {
      onRequest: [app.authenticate, requireSession, requireTokenAdmin],
      schema: {
        operationId: 'listOrganisationTokens',
        tags,
        summary:
          "The organisation's active tokens, removed owners' included; with a filter or a cursor a page of a search",
        security: bearer,
        querystring: OrgTokenQuery,
        response: {
          200: Type.Object({
            data: Type.Array(ListedOrgToken),
            pagination: Type.Optional(Pagination),
            nextCursor: NextCursor,
          }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { page = 1, limit = DEFAULT_LIMIT, ...filters } = request.query;
      const principal = getMember(request);
      if (Object.keys(filters).length === 0) return lists.listForOrganisation(principal, { page, limit });
      const { items: data, nextCursor } = await search.findForOrganisation(principal, request.query);
      return { data, nextCursor };
    },
  );
}
