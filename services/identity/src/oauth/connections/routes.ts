import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, ListPageOf, ListQuery, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { ConnectedApp, ConnectedAppPath, OwnedConnectedApp } from './schemas.js';
import { type ConnectedAppContext, listApps, listOwnApps, revokeAnyApp, revokeOwnApp } from './service.js';

const base = '/api/v1/connected-apps';
const tags = ['Connected apps'];
const Body = Type.Union([
  Type.Object({ reason: Type.Optional(Type.String({ maxLength: 500 })) }, { additionalProperties: false }),
  Type.Null(),
]);
const revoked = { message: 'The connection has ended' };

/** For members with a session, on the applications that act for them. */
function ownConnectedAppRoutes(app: App, ctx: ConnectedAppContext): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listConnectedApps',
        tags,
        summary: 'The applications that act for the caller, at most the 100 newest',
        description: 'Shows the scopes and bounds of each connection, and when it was last used.',
        response: { 200: Type.Object({ data: Type.Array(ConnectedApp) }), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ data: await listOwnApps(ctx, getMember(request)) }),
  );
  app.delete(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        operationId: 'revokeConnectedApp',
        tags,
        summary: 'End a connection with all of its tokens, at once',
        description:
          'Every service refuses its access tokens from the answer on. The application can ask to be connected again.',
        params: ConnectedAppPath,
        body: Body,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await revokeOwnApp(ctx, getCaller(request), request.params.id, request.body?.reason ?? null);
      return revoked;
    },
  );
}

/** For administrators with a session, on the applications that act for any member. */
function adminConnectedAppRoutes(app: App, ctx: ConnectedAppContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    `${base}/admin`,
    {
      onRequest,
      schema: {
        operationId: 'listOrganisationConnectedApps',
        tags,
        summary: 'The applications that act for members of the organisation, newest first',
        description: 'At most 10000 are counted and paged by number; the cursor leads to all.',
        querystring: ListQuery,
        response: { 200: ListPageOf(OwnedConnectedApp), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listApps(ctx, getMember(request), request.query),
  );
  app.delete(
    `${base}/admin/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'revokeOrganisationConnectedApp',
        tags,
        summary: 'End a connection of any member, at once',
        description:
          'Every service refuses its access tokens from the answer on. Its owner can connect it again, unless the connection policy forbids it.',
        params: ConnectedAppPath,
        body: Body,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await revokeAnyApp(ctx, getCaller(request), request.params.id, request.body?.reason ?? null);
      return revoked;
    },
  );
}

/** Registers the applications that act for members: the caller's own, and those of all members for administrators. */
export function registerConnectedApps(app: App, ctx: ConnectedAppContext): void {
  ownConnectedAppRoutes(app, ctx);
  adminConnectedAppRoutes(app, ctx);
}
