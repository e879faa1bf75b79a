import { getMember, requireMember, requireScopes, requireSession } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { requireTokenAdmin } from '../../base/authority.js';
import { errorResponses, bearer } from '../../base/openapi.js';
import { getCaller } from '../../base/caller/actor.js';
import {
  CreatedToken,
  CreateTokenBody,
  GrantableScopes,
  RevokeBody,
  Revoked,
  toRevoked,
  TokenPath,
} from './schemas.js';
import type { TokenService } from './service.js';

const base = '/api/v1/personal-access-tokens';
const tags = ['Personal access tokens'];

/** Registers what members do with their own tokens; a token requires `pat:write`. */
export function ownTokenRoutes(app: App, service: TokenService): void {
  const onRequest = [app.authenticate, requireMember, requireScopes(['pat:write'])];
  app.post(
    base,
    {
      onRequest,
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
  app.delete(
    `${base}/:tokenId`,
    {
      onRequest,
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

/** Registers the list of grantable scopes; a token gets only the scopes that it can grant itself. */
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

/** Registers what administrators do, with a session. It is checked first, so that every token gets the same 403. */
export function adminTokenRoutes(app: App, service: TokenService): void {
  app.delete(
    `${base}/admin/:tokenId`,
    {
      onRequest: [app.authenticate, requireSession, requireTokenAdmin],
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
