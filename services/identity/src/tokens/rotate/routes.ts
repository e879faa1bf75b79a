import { requireMember, requireScopes } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { bearer, errorResponses } from '../../base/openapi.js';
import { getCaller } from '../../base/caller/actor.js';
import { TokenPath } from '../create/schemas.js';
import { requireToken } from '../edit/routes.js';
import { RotateBody, RotatedToken } from './schemas.js';
import type { TokenRotation } from './service.js';

const base = '/api/v1/personal-access-tokens';
const message = 'Token rotated. Copy the new one now: it is not shown again.';
const documentation = {
  tags: ['Personal access tokens'],
  security: bearer,
  body: RotateBody,
  response: { 201: RotatedToken, ...errorResponses(400, 401, 403, 404, 409) },
};

/** Registers the rotation of own tokens; a token rotates itself and its descendants, with `pat:write` and all their scopes. */
export function tokenRotationRoutes(app: App, service: TokenRotation): void {
  const write = [app.authenticate, requireMember, requireScopes(['pat:write'])];
  app.post(
    `${base}/:tokenId/rotate`,
    {
      onRequest: write,
      schema: {
        ...documentation,
        operationId: 'rotateToken',
        summary: 'Replace an own token by a new one, whose value is shown once',
        params: TokenPath,
      },
    },
    async (request, reply) => {
      const { tokenId } = request.params;
      const rotated = await service.rotate(getCaller(request), tokenId, request.body ?? undefined);
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ message, ...rotated });
    },
  );
  app.post(
    `${base}/self/rotate`,
    {
      onRequest: [app.authenticate, requireToken, requireScopes(['pat:write'])],
      schema: {
        ...documentation,
        operationId: 'rotateOwnCredential',
        summary: 'Replace the calling token by a new one, whose value is shown once',
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const rotated = await service.rotate(caller, caller.credentialId, request.body ?? undefined);
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ message, ...rotated });
    },
  );
}
