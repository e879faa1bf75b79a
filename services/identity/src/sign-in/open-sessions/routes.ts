import { requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { EndedSessions, OpenSessionList, SessionPath } from './schemas.js';
import {
  endMemberSessions,
  endOtherSessions,
  endSessionOfCaller,
  listMemberSessions,
  listOwnSessions,
  type OpenSessionContext,
} from './service.js';

const tags = ['Sessions'];
const PATH = '/api/v1/sessions';

/** For members with a session: their own sessions. */
function ownSessionRoutes(app: App, ctx: OpenSessionContext): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    PATH,
    {
      onRequest,
      schema: {
        operationId: 'listSessions',
        tags,
        summary: 'The own open sessions, newest first, 100 at most',
        description:
          'A member has at most 100 open sessions; one more ends the oldest. `current` is the one of the request.',
        response: { 200: OpenSessionList, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ sessions: await listOwnSessions(ctx, getCaller(request)) }),
  );
  app.delete(
    `${PATH}/:sessionId`,
    {
      onRequest,
      schema: {
        operationId: 'endSession',
        tags,
        summary: 'End an own session',
        description:
          'Takes effect with the next request, in every service. A session of somebody else, and one that has ended, are the same 404.',
        params: SessionPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await endSessionOfCaller(ctx, getCaller(request), request.params.sessionId);
      return { message: 'Session ended' };
    },
  );
  app.delete(
    PATH,
    {
      onRequest,
      schema: {
        operationId: 'endOtherSessions',
        tags,
        summary: 'End all own sessions but this one',
        description: 'Tokens and connected apps stay. Repeating it ends nothing more.',
        response: { 200: EndedSessions, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      message: 'Other sessions ended',
      endedCount: await endOtherSessions(ctx, getCaller(request)),
    }),
  );
}

/** For administrators with a session: the sessions of a member. */
function memberSessionRoutes(app: App, ctx: OpenSessionContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  const path = '/api/v1/users/:id/sessions';
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'listUserSessions',
        tags,
        summary: "A member's open sessions, newest first, 100 at most",
        description:
          'Shows from where and with which program a member is signed in. The values of sessions are never shown.',
        params: IdPath,
        response: { 200: OpenSessionList, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ sessions: await listMemberSessions(ctx, getCaller(request), request.params.id) }),
  );
  app.delete(
    path,
    {
      onRequest,
      schema: {
        operationId: 'endUserSessions',
        tags,
        summary: "End all of a member's sessions",
        description:
          'Takes effect with the next request, in every service. Tokens and connected apps of the member stay.',
        params: IdPath,
        response: { 200: EndedSessions, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      message: 'Sessions ended',
      endedCount: await endMemberSessions(ctx, getCaller(request), request.params.id),
    }),
  );
}

/** Registers the lists of open sessions: the caller's own, and those of members for administrators. */
export function registerOpenSessions(app: App, ctx: OpenSessionContext): void {
  ownSessionRoutes(app, ctx);
  memberSessionRoutes(app, ctx);
}
