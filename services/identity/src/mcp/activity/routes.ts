import { getMember, requireMember, requireScopes, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { ActivityQuery, ActivityResponse } from './schemas.js';
import { listActivity, listSessionActivity } from './service.js';

/**
 * For members, on their own tokens; for administrators with a session, on every token of the organisation, and on the
 * sessions of members.
 */
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
  app.get(
    '/api/v1/users/:id/sessions/:sessionId/calls',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      schema: {
        operationId: 'listUserSessionCalls',
        tags: ['Sessions'],
        summary: 'The requests refused in a session of a member, and its calls of remote tools, newest first',
        description:
          'Follow `nextCursor` for older ones. They are listed for as long as the session is stored.',
        params: Type.Object({
          id: Type.String({ format: 'uuid' }),
          sessionId: Type.String({ format: 'uuid' }),
        }),
        querystring: ActivityQuery,
        response: { 200: ActivityResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listSessionActivity(pool, getMember(request), request.params, request.query),
  );
}
