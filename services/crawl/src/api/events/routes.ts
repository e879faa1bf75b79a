import { getAccount } from '@platform/auth';
import {
  connectors,
  CursorGoneError,
  type EventFeedPage,
  type EventFeedQuery,
  InvalidCursorError,
} from '@platform/events';
import { type App, AppError, validationError } from '@platform/service-kit';
import { Type } from 'typebox';
import { administrators, checksBounds, outOfBounds, toConnectorFilter } from '../authority.js';
import { base, documentedConnector, InstanceSlug, toConnector } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import { SyncEvent } from './schemas.js';

const EventsQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'The `nextCursor` of an earlier page; nothing else is accepted.',
        'x-documented': { pattern: '^[A-Za-z0-9_-]+$' },
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
    connector: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Events of this connector alone. A page may then be empty and yet have `hasMore`.',
        'x-documented': documentedConnector,
      }),
    ),
    instance: Type.Optional(
      Type.Unsafe<string>({ ...InstanceSlug, description: 'Of this instance alone. It needs `connector`.' }),
    ),
  },
  { additionalProperties: false },
);

const Events = Type.Object({
  ...successResponse(Type.Array(SyncEvent)).properties,
  nextCursor: Type.Union([Type.String(), Type.Null()]),
  hasMore: Type.Boolean(),
});

const cursorGone = (): AppError =>
  new AppError({
    status: 410,
    code: 'CURSOR_GONE',
    message:
      'The feed cannot continue from this cursor: later events were deleted, or the database was restored. Read from the beginning, without `after`, drop what you have by `eventId`, and run full crawls for what is missing',
  });

/** The routes are for administrators with `crawl:read`. */
export function eventRoutes(app: App, read: (query: EventFeedQuery) => Promise<EventFeedPage>): void {
  app.get(
    `${base}/events`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'listEvents',
        tags: ['Sync events'],
        summary: "The organisation's sync events, oldest first",
        description:
          'Store `nextCursor` once the events are handled, and send it as `after`. A page can be empty and still have `hasMore`. A cursor whose events were deleted is 410 `CURSOR_GONE`: read from the beginning, and drop known ids. Delivery is at least once.',
        querystring: EventsQuery,
        response: { 200: Events, ...errorResponses(400, 401, 403, 410, cursorGone(), outOfBounds()) },
      },
    },
    async (request) => {
      const { after, limit, connector: given, instance } = request.query;
      const connector = given === undefined ? undefined : toConnector({ connector: given });
      if (instance !== undefined && connector === undefined)
        throw validationError([{ field: 'instance', message: 'needs the connector' }]);
      const isShown = toConnectorFilter(request);
      if (connector !== undefined && !isShown(connector)) throw outOfBounds();
      const { orgId, bounds } = getAccount(request);
      try {
        const { data, nextCursor, hasMore } = await read({
          orgId,
          after,
          limit,
          connectors:
            connector === undefined ? bounds?.connectors && connectors.filter(isShown) : [connector],
          instance,
        });
        const events = data.map((event) => ({ ...event, payload: { ...event.payload } }));
        return { success: true as const, message: 'Events retrieved', data: events, nextCursor, hasMore };
      } catch (error) {
        if (error instanceof CursorGoneError) throw cursorGone();
        if (!(error instanceof InvalidCursorError)) throw error;
        throw validationError([{ field: 'after', message: 'is not a cursor of this endpoint' }]);
      }
    },
  );
}
