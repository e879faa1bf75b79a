import { getMember, requireMember, requireScopes } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { errorResponses, bearer } from '../../base/openapi.js';
import { ActivityResponse, ActivityQuery } from './schemas.js';
import type { ToolActivityService } from './service.js';

/** For members, on their own tokens; for administrators with a session, on every token of the organisation. */
export function toolActivityRoutes(app: App, service: ToolActivityService): void {
  app.get(
    '/api/v1/personal-access-tokens/:tokenId/activity',
    {
      onRequest: [app.authenticate, requireMember, requireScopes(['pat:read'])],
      schema: {
        operationId: 'listTokenActivity',
        tags: ['Personal access tokens'],
        summary: 'The calls of remote tools made with a token, newest first',
        security: bearer,
        params: Type.Object({ tokenId: Type.String({ format: 'uuid' }) }),
        querystring: ActivityQuery,
        response: { 200: ActivityResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => service.listForToken(getMember(request), request.params.tokenId, request.query),
  );
}
