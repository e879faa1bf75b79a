import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { ScheduleBody, ScheduleConfig } from '../../domain/schedule-config.js';
import { administrators } from '../authority.js';
import { base, ConnectorPath, toConnector } from '../params.js';
import { errorResponses, bearer, Success, successResponse } from '../responses.js';
import { ownBodyCheck } from './body-errors.js';
import type { ScheduleService } from './service.js';
import { statusRoutes } from './status.routes.js';

const tags = ['Crawl schedules'];
const Instant = Type.String({ format: 'date-time' });
/** The body may be left out. */
const PauseBody = Type.Union([
  Type.Object(
    {
      until: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 40,
          description: 'When it resumes by itself. Default: until somebody resumes it.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Null(),
]);
const OptionalInstant = Type.Optional(Instant);
const params = ConnectorPath;
const security = bearer;

/** These routes are for administrators with `crawl:write`. */
function writeRoutes(app: App, service: ScheduleService): void {
  const onRequest = administrators(app, 'crawl:write');
  const Scheduled = Type.Object({
    jobId: Type.String(),
    connector: Type.String(),
    scheduleConfig: ScheduleConfig,
    scheduledAt: Instant,
  });
  app.post(
    `${base}/:connector/schedule`,
    {
      onRequest,
      ...ownBodyCheck,
      schema: {
        operationId: 'schedule',
        tags,
        summary: 'Schedule a connector, or replace its schedule',
        security,
        params,
        body: ScheduleBody,
        response: { 201: successResponse(Scheduled), ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) => {
      const data = await service.schedule(getAccount(request), toConnector(request.params), request.body);
      return reply.code(201).send({ success: true, message: 'Job scheduled', data });
    },
  );
  const changed = (
    times: { pausedAt: typeof Instant; pausedUntil: typeof OptionalInstant } | { resumedAt: typeof Instant },
  ) => ({
    200: successResponse(Type.Object({ connector: Type.String(), orgId: Type.String(), ...times })),
    ...errorResponses(400, 401, 403),
  });
  app.post(
    `${base}/:connector/pause`,
    {
      onRequest,
      schema: {
        operationId: 'pause',
        tags,
        summary: 'Pause a schedule; a run in progress is aborted',
        security,
        params,
        body: PauseBody,
        response: changed({ pausedAt: Instant, pausedUntil: OptionalInstant }),
      },
    },
    async (request) => {
      const { orgId } = getAccount(request);
      const connector = toConnector(request.params);
      const until = request.body?.until;
      const pausedUntil = until === undefined ? undefined : new Date(until);
      const pausedAt = (await service.pause(orgId, connector, pausedUntil)).toISOString();
      const data = {
        connector,
        orgId,
        pausedAt,
        ...(pausedUntil && { pausedUntil: pausedUntil.toISOString() }),
      };
      return { success: true as const, message: 'Job paused', data };
    },
  );
  app.post(
    `${base}/:connector/resume`,
    {
      onRequest,
      schema: {
        operationId: 'resume',
        tags,
        summary: 'Resume a paused schedule, from its next time on',
        security,
        params,
        response: changed({ resumedAt: Instant }),
      },
    },
    async (request) => {
      const { orgId } = getAccount(request);
      const connector = toConnector(request.params);
      const resumedAt = (await service.resume(orgId, connector)).toISOString();
      return { success: true as const, message: 'Job resumed', data: { connector, orgId, resumedAt } };
    },
  );
}

/** These routes are for administrators with `crawl:delete`. */
function deleteRoutes(app: App, service: ScheduleService): void {
  const onRequest = administrators(app, 'crawl:delete');
  app.delete(
    `${base}/:connector/checkpoint`,
    {
      onRequest,
      schema: {
        operationId: 'resetCheckpoint',
        tags,
        summary: 'Forget the checkpoint: the next run is full and starts from nothing',
        security,
        params,
        response: { 200: Success, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request) => {
      await service.resetCheckpoint(getAccount(request).orgId, toConnector(request.params));
      return { success: true as const, message: 'Checkpoint reset' };
    },
  );
  app.delete(
    `${base}/:connector/schedule`,
    {
      onRequest,
      schema: {
        operationId: 'removeSchedule',
        tags,
        summary: 'Remove a schedule; a run in progress is aborted',
        security,
        params,
        response: { 200: Success, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      await service.remove(getAccount(request).orgId, toConnector(request.params));
      return { success: true as const, message: 'Job removed' };
    },
  );
  app.delete(
    `${base}/schedule/all`,
    {
      onRequest,
      schema: {
        operationId: 'removeAllSchedules',
        tags,
        summary: "Remove all of the organisation's schedules",
        security,
        response: { 200: Success, ...errorResponses(401, 403, 500) },
      },
    },
    async (request) => {
      await service.removeAll(getAccount(request).orgId);
      return { success: true as const, message: 'All jobs removed' };
    },
  );
}

export function scheduleRoutes(app: App, service: ScheduleService): void {
  statusRoutes(app, service);
  writeRoutes(app, service);
  deleteRoutes(app, service);
}
