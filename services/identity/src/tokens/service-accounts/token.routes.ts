import { getMember, requireSession } from '@platform/auth';
import { type App, bearer, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { CreatedToken, GrantableScopes, RevokeBody, Revoked, Token, toRevoked } from '../create/schemas.js';
import { EditedToken, EditTokenBody, TokenAnswer } from '../edit/schemas.js';
import { RotateBody, RotatedToken } from '../rotate/schemas.js';
import { AccountPath, AccountTokenPath, CreateAccountTokenBody } from './schemas.js';
import type { AccountTokens } from './tokens.js';

const base = '/api/v1/service-accounts/:accountId/tokens';
const tags = ['Service accounts'];

/** For administrators, with a session: the personal access tokens that act as a service account. [OAUTH-10] */
export function accountTokenRoutes(app: App, service: AccountTokens): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountTokens',
        tags,
        summary: 'The active tokens of a service account, at most the 100 newest',
        security: bearer,
        params: AccountPath,
        response: {
          200: Type.Object({ tokens: Type.Array(Token) }),
          ...errorResponses(400, 401, 403, 404),
        },
      },
    },
    async (request) => ({ tokens: await service.list(getMember(request), request.params.accountId) }),
  );
  app.get(
    `${base}/scopes`,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountScopes',
        tags,
        summary: 'The scopes that a token of a service account can have, by category',
        security: bearer,
        params: AccountPath,
        response: { 200: GrantableScopes, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ scopes: await service.listScopes(getMember(request), request.params.accountId) }),
  );
  app.post(
    base,
    {
      onRequest,
      schema: {
        operationId: 'createServiceAccountToken',
        tags,
        summary: 'Create a token that acts as a service account; its value is shown once',
        security: bearer,
        params: AccountPath,
        body: CreateAccountTokenBody,
        response: { 201: CreatedToken, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request, reply) => {
      const token = await service.create(getCaller(request), request.params.accountId, request.body);
      const message = 'Token created. Copy it now: it is not shown again.';
      return reply.code(201).header('cache-control', 'no-store').send({ message, token });
    },
  );
  app.get(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'getServiceAccountToken',
        tags,
        summary: 'A token of a service account in any state',
        security: bearer,
        params: AccountTokenPath,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      return { token: await service.get(getMember(request), accountId, tokenId) };
    },
  );
  app.patch(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'editServiceAccountToken',
        tags,
        summary: 'Change an active token of a service account, never so that it grants more',
        security: bearer,
        params: AccountTokenPath,
        body: EditTokenBody,
        response: { 200: EditedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      return service.edit(getCaller(request), accountId, tokenId, request.body);
    },
  );
  app.post(
    `${base}/:tokenId/rotate`,
    {
      onRequest,
      schema: {
        operationId: 'rotateServiceAccountToken',
        tags,
        summary: 'Replace a token of a service account by a new one, whose value is shown once',
        security: bearer,
        params: AccountTokenPath,
        body: RotateBody,
        response: { 201: RotatedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      const { accountId, tokenId } = request.params;
      const rotated = await service.rotate(getCaller(request), accountId, tokenId, request.body ?? undefined);
      const message = 'Token rotated. Copy the new one now: it is not shown again.';
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ message, ...rotated });
    },
  );
  app.delete(
    `${base}/:tokenId`,
    {
      onRequest,
      schema: {
        operationId: 'revokeServiceAccountToken',
        tags,
        summary: 'Revoke a token of a service account, at once and for good',
        security: bearer,
        params: AccountTokenPath,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { accountId, tokenId } = request.params;
      return toRevoked(
        await service.revoke(getCaller(request), accountId, tokenId, request.body ?? undefined),
      );
    },
  );
}
