import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import type { ScheduleState } from '../../domain/schedule.js';
import { getActor } from '../actor.js';
import { accounts, administrators, checksBounds, managers } from '../authority.js';
import {
  base,
  documentedConnector,
  InstancePath,
  InstanceSlug,
  toConnector,
  toInstanceKey,
} from '../params.js';
import { errorResponses, Success, successResponse } from '../responses.js';
import { tooManyInstances } from './errors.js';
import { getInstance, listInstances, putInstance, removeInstance } from './service.js';

const tags = ['Connectors'];

const Nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()]);
const DisplayName = Type.String({ minLength: 1, maxLength: 100, format: 'display-name' });
const OwnerId = Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
  description: 'The member who may manage it besides the administrators.',
});

const InstanceBody = Type.Object(
  { displayName: DisplayName, ownerId: Type.Optional(OwnerId) },
  { additionalProperties: false },
);

const InstanceItem = Type.Object(
  {
    connector: Type.String(),
    instance: InstanceSlug,
    displayName: Nullable(Type.String()),
    ownerId: OwnerId,
    scheduleState: Type.Union([
      Type.Unsafe<ScheduleState>({ enum: ['active', 'paused', 'finished'] }),
      Type.Null({ description: 'It has no schedule.' }),
    ]),
  },
  { title: 'ConnectorInstance' },
);

const InstancesQuery = Type.Object(
  {
    connector: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Only the instances of this connector.',
        'x-documented': documentedConnector,
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[A-Za-z0-9_-]+$',
        description: 'The `nextCursor` of the page before; nothing else is accepted.',
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  },
  { additionalProperties: false },
);

/** The routes are for administrators; a member sees the instances that the member owns. */
export function connectorInstanceRoutes(app: App, ctx: ApiContext): void {
  app.get(
    `${base}/instances`,
    {
      onRequest: accounts(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'listInstances',
        tags,
        summary: "The instances of the organisation's connectors that the caller may manage",
        description:
          'Pages by number, or by `cursor`. Members see the instances that they own, administrators all.',
        querystring: InstancesQuery,
        response: {
          200: Type.Object({
            ...successResponse(Type.Array(InstanceItem)).properties,
            nextCursor: Type.Union([Type.String(), Type.Null()]),
          }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { role, orgId, userId, bounds } = getAccount(request);
      const { connector, ...page } = request.query;
      const found = await listInstances(ctx, {
        orgId,
        ownerId: role === 'admin' ? undefined : userId,
        connectors: bounds?.connectors,
        connector: connector === undefined ? undefined : toConnector({ connector }),
        cursor: page.cursor,
        limit: page.limit,
      });
      return { success: true as const, message: 'Instances retrieved', ...found };
    },
  );
  const path = `${base}/:connector/instances/:instance`;
  app.get(
    path,
    {
      onRequest: managers(app, 'crawl:read', ctx),
      schema: {
        operationId: 'getInstance',
        tags,
        summary: 'One instance of a connector',
        description: 'Has the display name and the owner. The instance `default` exists always.',
        params: InstancePath,
        response: { 200: successResponse(InstanceItem), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Instance retrieved',
      data: await getInstance(ctx, toInstanceKey(request)),
    }),
  );
  app.put(
    path,
    {
      onRequest: administrators(app, 'crawl:write'),
      schema: {
        operationId: 'saveInstance',
        tags,
        summary: 'Create an instance of a connector, or replace its properties',
        description:
          'Repeating it changes nothing. The owner may manage its schedule, but neither these properties nor its removal.',
        params: InstancePath,
        body: InstanceBody,
        response: {
          200: successResponse(InstanceItem),
          ...errorResponses(400, 401, 403, 409, tooManyInstances()),
        },
      },
    },
    async (request) => {
      const { displayName, ownerId = null } = request.body;
      const properties = { displayName: displayName.trim(), ownerId };
      const data = await putInstance(ctx, toInstanceKey(request), properties, getActor(request));
      return { success: true as const, message: 'Instance saved', data };
    },
  );
  app.delete(
    path,
    {
      onRequest: administrators(app, 'crawl:delete'),
      schema: {
        operationId: 'removeInstance',
        tags,
        summary: 'Remove an instance with its schedule; a run in progress is aborted',
        description: 'Its history and hooks go with it. Removing what is not there succeeds, too.',
        params: InstancePath,
        response: { 200: Success, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      await removeInstance(ctx, toInstanceKey(request), getActor(request));
      return { success: true as const, message: 'Instance removed' };
    },
  );
}
