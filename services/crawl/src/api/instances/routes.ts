import { getAccount } from '@platform/auth';
import { connectors, type Connector } from '@platform/events';
import { type App, type Clock, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { findInstances, saveInstance } from '../../db/instances.js';
import { removeSchedules } from '../../db/schedules.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import type { ScheduleState } from '../../domain/schedule.js';
import { accounts, administrators, type IsOwner, managers } from '../authority.js';
import { base, InstancePath, InstanceSlug, toConnector, toInstanceKey } from '../params.js';
import { instanceNotFound, tooManyInstances } from './errors.js';
import { bearer, errorResponses, Success, successResponse } from '../responses.js';

/*
 * An instance is created by saving its properties; then it can have a schedule. `default` needs none, and is listed once
 * it has properties or a schedule.
 */

const tags = ['Connectors'];
const security = bearer;

const Nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()]);
const DisplayName = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000]*\\S[^\\u0000]*$' });
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
    connector: Type.Optional(Type.String({ maxLength: 100, description: 'Those of this connector alone.' })),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: 'The `nextCursor` of the page before.' }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  },
  { additionalProperties: false },
);

type Position = Pick<InstanceKey, 'connector' | 'instance'>;
const toCursor = ({ connector, instance }: Position): string =>
  Buffer.from(`${connector} ${instance}`).toString('base64url');

/** @throws AppError 400. */
function readCursor(cursor: string): Position {
  const [connector = '', instance] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  if (
    !(connectors as readonly string[]).includes(connector) ||
    instance === undefined ||
    instance.includes('\0')
  )
    throw validationError([{ field: 'cursor', message: 'is not a cursor of this endpoint' }]);
  return { connector: connector as Connector, instance };
}

/** The routes are for administrators; a member sees the instances that the member owns. */
export function connectorInstanceRoutes(
  app: App,
  { pool, clock, isOwner }: { readonly pool: pg.Pool; readonly clock: Clock; readonly isOwner: IsOwner },
): void {
  app.get(
    `${base}/instances`,
    {
      onRequest: accounts(app, 'crawl:read'),
      schema: {
        operationId: 'listInstances',
        tags,
        summary: "The instances of the organisation's connectors that the caller may manage",
        security,
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
      const { role, orgId, userId } = getAccount(request);
      const { connector, cursor, limit } = request.query;
      const found = await findInstances(pool, {
        orgId,
        connector: connector === undefined ? undefined : toConnector({ connector }),
        ownerId: role === 'admin' ? undefined : userId,
        after: cursor === undefined ? undefined : readCursor(cursor),
        limit: limit + 1,
      });
      const data = found.slice(0, limit);
      const last = data.at(-1);
      const nextCursor = found.length > limit && last ? toCursor(last) : null;
      return { success: true as const, message: 'Instances retrieved', data, nextCursor };
    },
  );
  const path = `${base}/:connector/instances/:instance`;
  const find = async (key: InstanceKey) => {
    const [row] = await findInstances(pool, { ...key, limit: 1 });
    if (!row) throw instanceNotFound();
    return row;
  };
  app.get(
    path,
    {
      onRequest: managers(app, 'crawl:read', isOwner),
      schema: {
        operationId: 'getInstance',
        tags,
        summary: 'One instance of a connector',
        security,
        params: InstancePath,
        response: { 200: successResponse(InstanceItem), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Instance retrieved',
      data: await find(toInstanceKey(request)),
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
        security,
        params: InstancePath,
        body: InstanceBody,
        response: { 200: successResponse(InstanceItem), ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request) => {
      const key = toInstanceKey(request);
      const { displayName, ownerId = null } = request.body;
      if (!(await saveInstance(pool, key, { displayName: displayName.trim(), ownerId })))
        throw tooManyInstances();
      return { success: true as const, message: 'Instance saved', data: await find(key) };
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
        security,
        params: InstancePath,
        response: { 200: Success, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      await removeSchedules(pool, { ...toInstanceKey(request), at: new Date(clock()) }, 'with instances');
      return { success: true as const, message: 'Instance removed' };
    },
  );
}
