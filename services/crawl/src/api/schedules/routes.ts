import { getAccount } from '@platform/auth';
import { type App, givenInstant } from '@platform/service-kit';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import { ScheduleBody, ScheduleConfig } from '../../domain/schedule-config.js';
import { getActor } from '../actor.js';
import { administrators, managers } from '../authority.js';
import { base, instanceRoutes, type InstanceRoutes, toInstanceKey } from '../params.js';
import { errorResponses, Success, successResponse } from '../responses.js';
import { checkNumbers, ownBodyCheck } from './body-errors.js';
import { listRoute, statusRoute } from './status.routes.js';
import {
  alreadyPaused,
  disabledJob,
  nothingToPause,
  nothingToResume,
  runInProgress,
  timeNotInFuture,
} from './errors.js';
import {
  pause,
  removeAllSchedules,
  removeSchedule,
  resetCheckpoint,
  resume,
  setSchedule,
} from './service.js';

const tags = ['Crawl schedules'];
const Instant = Type.String({ format: 'date-time' });
/** The body may be left out. */
const PauseBody = Type.Union([
  Type.Object(
    {
      until: Type.Optional(
        Type.String({
          ...givenInstant,
          maxLength: 40,
          description: 'When it resumes by itself, in the future. Default: until somebody resumes it.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Null(),
]);
const OptionalInstant = Type.Optional(Instant);

/** These routes are for administrators and owners with `crawl:write`. */
function writeRoutes(app: App, ctx: ApiContext, { path, params, toOperationId }: InstanceRoutes): void {
  const onRequest = managers(app, 'crawl:write', ctx);
  const Scheduled = Type.Object({
    jobId: Type.String(),
    connector: Type.String(),
    scheduleConfig: ScheduleConfig,
    scheduledAt: Instant,
  });
  app.post(
    `${path}/schedule`,
    {
      onRequest,
      ...ownBodyCheck,
      config: { keepsBodyText: true },
      schema: {
        operationId: toOperationId('schedule'),
        tags,
        summary: 'Schedule a connector, or replace its schedule',
        description:
          'An earlier schedule of the same instance is replaced, so a repeated request leaves one. Options that are left out get their defaults. An invalid configuration leaves the earlier schedule untouched.',
        params: params({}),
        body: ScheduleBody,
        response: {
          201: successResponse(Scheduled),
          ...errorResponses(400, 401, 403, 404, disabledJob(), timeNotInFuture()),
        },
      },
    },
    async (request, reply) => {
      checkNumbers(request);
      const data = await setSchedule(
        ctx,
        getAccount(request),
        toInstanceKey(request),
        request.body,
        getActor(request),
      );
      return reply.code(201).send({ success: true, message: 'Job scheduled', data });
    },
  );
  const changed = (
    times: { pausedAt: typeof Instant; pausedUntil: typeof OptionalInstant } | { resumedAt: typeof Instant },
  ) => ({
    200: successResponse(Type.Object({ connector: Type.String(), orgId: Type.String(), ...times })),
    ...errorResponses(
      400,
      401,
      403,
      ...('pausedAt' in times ? [nothingToPause(), alreadyPaused()] : [nothingToResume()]),
    ),
  });
  app.post(
    `${path}/pause`,
    {
      onRequest,
      schema: {
        operationId: toOperationId('pause'),
        tags,
        summary: 'Pause a schedule; a run in progress is aborted',
        description:
          'The pause is stored, and survives restarts. With `until` it ends by itself, at the first time of the schedule from then on. A schedule that is paused already is 400.',
        params: params({}),
        body: PauseBody,
        response: changed({ pausedAt: Instant, pausedUntil: OptionalInstant }),
      },
    },
    async (request) => {
      const key = toInstanceKey(request);
      const { connector, orgId } = key;
      const until = request.body?.until;
      const pausedUntil = until === undefined ? undefined : new Date(until);
      const pausedAt = (await pause(ctx, key, pausedUntil, getActor(request))).toISOString();
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
    `${path}/resume`,
    {
      onRequest,
      schema: {
        operationId: toOperationId('resume'),
        tags,
        summary: 'Resume a paused schedule, from its next time on',
        description: 'Times that passed meanwhile are not made up for. A schedule that is not paused is 400.',
        params: params({}),
        response: changed({ resumedAt: Instant }),
      },
    },
    async (request) => {
      const key = toInstanceKey(request);
      const { connector, orgId } = key;
      const resumedAt = (await resume(ctx, key, getActor(request))).toISOString();
      return { success: true as const, message: 'Job resumed', data: { connector, orgId, resumedAt } };
    },
  );
}

/** These routes are for administrators and owners with `crawl:delete`. */
function deleteRoutes(app: App, ctx: ApiContext, { path, params, toOperationId }: InstanceRoutes): void {
  const onRequest = managers(app, 'crawl:delete', ctx);
  app.delete(
    `${path}/checkpoint`,
    {
      onRequest,
      schema: {
        operationId: toOperationId('resetCheckpoint'),
        tags,
        summary: 'Forget the checkpoint: the next run is full and starts from nothing',
        description:
          'A run in progress is 409. What is in the index stays until the full crawl has replaced it.',
        params: params({}),
        response: { 200: Success, ...errorResponses(400, 401, 403, 409, runInProgress()) },
      },
    },
    async (request) => {
      await resetCheckpoint(ctx, toInstanceKey(request), getActor(request));
      return { success: true as const, message: 'Checkpoint reset' };
    },
  );
  app.delete(
    `${path}/schedule`,
    {
      onRequest,
      schema: {
        operationId: toOperationId('removeSchedule'),
        tags,
        summary: 'Remove a schedule; a run in progress is aborted',
        description: 'The history and the checkpoint stay. Removing what is not there succeeds, too.',
        params: params({}),
        response: { 200: Success, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      await removeSchedule(ctx, toInstanceKey(request), getActor(request));
      return { success: true as const, message: 'Job removed' };
    },
  );
}

/** This route is for administrators with `crawl:delete`. */
function removeAllRoute(app: App, ctx: ApiContext): void {
  app.delete(
    `${base}/schedule/all`,
    {
      onRequest: administrators(app, 'crawl:delete'),
      schema: {
        operationId: 'removeAllSchedules',
        tags,
        summary: "Remove all of the organisation's schedules",
        description:
          'Runs in progress are aborted. The history stays. A token that is limited to connectors is refused. Repeating it does no harm.',
        response: { 200: Success, ...errorResponses(401, 403, 500) },
      },
    },
    async (request) => {
      await removeAllSchedules(ctx, getAccount(request).orgId, getActor(request));
      return { success: true as const, message: 'All jobs removed' };
    },
  );
}

export function scheduleRoutes(app: App, ctx: ApiContext): void {
  listRoute(app, ctx);
  removeAllRoute(app, ctx);
  for (const routes of instanceRoutes) {
    statusRoute(app, ctx, routes);
    writeRoutes(app, ctx, routes);
    deleteRoutes(app, ctx, routes);
  }
}
