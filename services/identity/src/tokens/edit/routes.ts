import { getMember, requireMember, requireScopes } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';
import { bearer, errorResponses } from '../../base/openapi.js';
import { getCaller } from '../../base/caller/actor.js';
import { tokenRequired } from '../create/errors.js';
import { RevokeBody, Revoked, TokenPath, toRevoked } from '../create/schemas.js';
import type { TokenService } from '../create/service.js';
import { EditedToken, EditTokenBody, TokenAnswer } from './schemas.js';
import type { TokenDetailsService } from './service.js';

const base = '/api/v1/personal-access-tokens';
const tags = ['Personal access tokens'];

/** Requires a personal access token. */
export const requireToken: onRequestHookHandler = (request, _reply, done) => {
  if (getMember(request).kind !== 'pat') throw tokenRequired();
  done();
};

/** Registers what members do with one of their own tokens; a token requires `pat:read` or `pat:write`. */
export function tokenDetailsRoutes(app: App, service: TokenDetailsService): void {
  app.get(
    `${base}/:tokenId`,
    {
      onRequest: [app.authenticate, requireMember, requireScopes(['pat:read'])],
      schema: {
        operationId: 'getOwnToken',
        tags,
        summary: 'An own token in any state',
        security: bearer,
        params: TokenPath,
        response: { 200: TokenAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      token: await service.get({ id: getMember(request).userId }, request.params.tokenId),
    }),
  );
  app.patch(
    `${base}/:tokenId`,
    {
      onRequest: [app.authenticate, requireMember, requireScopes(['pat:write'])],
      schema: {
        operationId: 'editOwnToken',
        tags,
        summary: 'Change an own active token, never so that it grants more',
        security: bearer,
        params: TokenPath,
        body: EditTokenBody,
        response: { 200: EditedToken, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    (request) => service.edit(getCaller(request), request.params.tokenId, request.body),
  );
}

/** Registers what a token can do with itself, whatever its scopes. */
export function ownCredentialRoutes(
  app: App,
  details: TokenDetailsService,
  tokens: Pick<TokenService, 'revokeOwn'>,
): void {
  const onRequest = [app.authenticate, requireToken];
  app.get(
    `${base}/self`,
    {
      onRequest,
      schema: {
        operationId: 'getOwnCredential',
        tags,
        summary: 'The calling token',
        security: bearer,
        response: { 200: TokenAnswer, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => {
      const { userId: id, credentialId } = getMember(request);
      return { token: await details.get({ id }, credentialId) };
    },
  );
  app.delete(
    `${base}/self`,
    {
      onRequest,
      schema: {
        operationId: 'revokeOwnCredential',
        tags,
        summary: 'Revoke the calling token and those that it made, at once and for good',
        security: bearer,
        body: RevokeBody,
        response: { 200: Revoked, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      return toRevoked(await tokens.revokeOwn(caller, caller.credentialId, request.body ?? undefined));
    },
  );
}
