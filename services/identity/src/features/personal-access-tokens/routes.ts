import { getMember, requireAdmin, requireMember, requireScopes, requireSession } from '@platform/auth';
import { type App, Pagination } from '@platform/service-kit';
import { Type } from 'typebox';
import { errorResponses, bearer } from '../../openapi.js';
import { getCaller } from '../audit/actor.js';
import {
  CreatedToken,
  CreateTokenBody,
  GrantableScopes,
  RevokeBody,
  Revoked,
  toRevoked,
  TokenPath,
} from './schemas.js';
import {
  ListedOrgToken,
  ListedToken,
  NextCursor,
  OrgTokenQuery,
  OwnTokenQuery,
} from '../token-search/schemas.js';
import type { TokenSearchService } from '../token-search/service.js';
import type { TokenService } from './service.js';

const DEFAULT_LIMIT = 20;

const base = '/api/v1/personal-access-tokens';
const tags = ['Personal access tokens'];

/** For members, on their own tokens; a token requires `pat:read` or `pat:write`. */
export function ownTokenRoutes(app: App, service: TokenService, search: TokenSearchService): void {
  const read = [app.authenticate, requireMember, requireScopes(['pat:read'])];
  const write = [app.authenticate, requireMember, requireScopes(['pat:write'])];
  app.post(
    base,
    {
      onRequest: write,
      schema: {
        operationId: 'createToken',
        tags,
        summary: 'Create a token; its value is shown once',
        security: bearer,
        body: CreateTokenBody,
        response: { 201: CreatedToken, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request, reply) => {
      const token = await service.create(getCaller(request), request.body);
      const message = 'Token created. Copy it now: it is not shown again.';
      return reply.code(201).header('cache-control', 'no-store').send({ message, token });
    },
  );
  app.get(
    base,
    {
      onRequest: read,
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
      if (Object.keys(query).length === 0) return { tokens: await service.listOwn(principal) };
      const { items: tokens, nextCursor } = await search.findOwn(principal, query);
      return { tokens, nextCursor };
    },
  );
  app.delete(
    `${base}/:tokenId`,
    {
      onRequest: write,
      schema: {
        operationId: 'revokeOwnToken',
        tags,
        summary: 'Revoke an own token and those that it made, at once and for good',
        security: bearer,
        params: TokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) =>
      toRevoked(
        await service.revokeOwn(getCaller(request), request.params.tokenId, request.body ?? undefined),
      ),
  );
}

/** For members; a token gets only the scopes that it can grant itself. */
export function scopeRoutes(app: App, service: TokenService): void {
  app.get(
    `${base}/scopes`,
    {
      onRequest: [app.authenticate, requireMember],
      schema: {
        operationId: 'listGrantableScopes',
        tags,
        summary: 'The scopes that this caller can grant, by category',
        security: bearer,
        response: { 200: GrantableScopes, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ scopes: await service.grantableScopes(getMember(request)) }),
  );
}

/** For administrators, with a session. The session is checked first, so that every token gets the same 403. */
export function adminTokenRoutes(app: App, service: TokenService, search: TokenSearchService): void {
  const onRequest = [
    app.authenticate,
    requireSession,
    requireAdmin({ status: 400, code: 'ADMIN_REQUIRED', message: 'Admin privileges required' }),
  ];
  app.get(
    `${base}/admin`,
    {
      onRequest,
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
      if (Object.keys(filters).length === 0) return service.listForOrganisation(principal, { page, limit });
      const { items: data, nextCursor } = await search.findForOrganisation(principal, request.query);
      return { data, nextCursor };
    },
  );
  app.delete(
    `${base}/admin/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'revokeOrganisationToken',
        tags,
        summary: "Revoke anyone's token and those that it made, at once and for good",
        security: bearer,
        params: TokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) =>
      toRevoked(
        await service.revokeAny(getCaller(request), request.params.tokenId, request.body ?? undefined),
      ),
  );
}
