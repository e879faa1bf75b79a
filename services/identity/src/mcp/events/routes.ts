import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, ListPageOf, ListQuery, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { listOwnSubscriptions, listSubscriptions, stopSubscription } from './listing.js';
import { EventSubscription, EventSubscriptionPath, OwnedEventSubscription } from './schemas.js';

const base = '/api/v1/events/subscriptions';
const tags = ['Event subscriptions'];
const stopped = { message: 'The subscription has ended' };

type Context = Parameters<typeof listOwnSubscriptions>[0];

/** For members with a session, on what their own agents follow. */
function ownRoutes(app: App, ctx: Context): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listEventSubscriptions',
        tags,
        summary: "The events that the caller's tokens and applications are sent, newest first",
        description: 'Agents subscribe at `/mcp` (`events/subscribe`); here they are shown and ended.',
        response: { 200: Type.Object({ data: Type.Array(EventSubscription) }), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ data: await listOwnSubscriptions(ctx, getMember(request)) }),
  );
  app.delete(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        operationId: 'stopEventSubscription',
        tags,
        summary: 'End a subscription; nothing more is sent',
        description: 'The agent is not told. It can subscribe again while its credential lasts.',
        params: EventSubscriptionPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const caller = getCaller(request);
      await stopSubscription(ctx, caller, request.params.id, caller.userId);
      return stopped;
    },
  );
}

/** For administrators with a session, on what all agents of the organisation follow. */
function adminRoutes(app: App, ctx: Context): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    `${base}/admin`,
    {
      onRequest,
      schema: {
        operationId: 'listOrganisationEventSubscriptions',
        tags,
        summary: 'The events that tokens and applications of the organisation are sent, newest first',
        description: 'Pages by number, or by `cursor`. Of the address only the host is shown.',
        querystring: ListQuery,
        response: { 200: ListPageOf(OwnedEventSubscription), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listSubscriptions(ctx, getMember(request), request.query),
  );
  app.delete(
    `${base}/admin/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'stopOrganisationEventSubscription',
        tags,
        summary: 'End a subscription of anybody; nothing more is sent',
        description: 'The agent is not told. It can subscribe again while its credential lasts.',
        params: EventSubscriptionPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await stopSubscription(ctx, getCaller(request), request.params.id, undefined);
      return stopped;
    },
  );
}

/** Registers the subscriptions to events: the caller's own, and those of everybody for administrators. */
export function subscriptionRoutes(app: App, ctx: Context): void {
  ownRoutes(app, ctx);
  adminRoutes(app, ctx);
}
