import { getMember, requireMember, requireScopes } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { ActivityQuery, ActivityResponse } from './schemas.js';
import { listActivity } from './service.js';

/** For members, on their own tokens; for administrators with a session, on every token of the organisation. */
export function toolActivityRoutes(app: App, pool: pg.Pool): void {
  app.get(
    '/api/v1/personal-access-tokens/:tokenId/activity',
    {
      onRequest: [app.authenticate, requireMember, requireScopes(['pat:read'])],
      schema: {
        operationId: 'listTokenActivity',
        tags: ['Personal access tokens'],
        summary: 'The calls of remote tools made with a token, and the requests refused to it, newest first',
        description: 'Pages by number, or by `cursor`. Calls are kept for as long as the operator has set.',
        params: Type.Object({ tokenId: Type.String({ format: 'uuid' }) }),
        querystring: ActivityQuery,
        response: { 200: ActivityResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listActivity(pool, getMember(request), request.params.tokenId, request.query),
  );
}
