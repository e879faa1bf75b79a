import { getAccount } from '@platform/auth';
import { type App, ListPageOf } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import type { RunKey } from '../../domain/instance-key.js';
import { getActor } from '../actor.js';
import { administrators, checksBounds, managers, toConnectorFilter } from '../authority.js';
import {
  type ConnectorParams,
  instanceRoutes,
  type InstanceRoutes,
  NoSchedule,
  noSchedule,
  toInstanceKey,
} from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import { RequestedRun, RunRequest, RunDetail, RunItem, runParams, RunsQuery } from './schemas.js';
import { runEnded, schedulePaused } from './errors.js';
import { runInProgress } from '../schedules/errors.js';
import { cancelRunInProgress, findRunOfAnyConnector, getRun, listRuns, requestRun } from './service.js';

const tags = ['Crawl runs'];

const toRunKey = (request: FastifyRequest<{ Params: ConnectorParams & { runId: string } }>): RunKey => ({
  ...toInstanceKey(request),
  runId: request.params.runId,
});

/** The routes are for administrators and owners: `crawl:write` to run or cancel, `crawl:read` to read. */
function runRoutesOf(app: App, ctx: ApiContext, { path, params, toOperationId }: InstanceRoutes): void {
  const onRead = managers(app, 'crawl:read', ctx);
  const onWrite = managers(app, 'crawl:write', ctx);
  app.post(
    `${path}/run`,
    {
      onRequest: onWrite,
      config: { isIdempotent: true },
      schema: {
        operationId: toOperationId('runNow'),
        tags,
        summary: 'Run a scheduled connector now, beside its schedule',
        description:
          'The request is stored before it is answered, and the run starts when a worker has room. While a run of the instance waits or is in progress, another request is 409. The times of the schedule do not change.',
        params: params({}),
        body: RunRequest,
        response: {
          202: successResponse(RequestedRun),
          ...errorResponses(400, 401, 403, 409, schedulePaused(), runInProgress()),
          404: NoSchedule,
        },
      },
    },
    async (request, reply) => {
      const { userId: id, fullName: name } = getAccount(request);
      const data = await requestRun(ctx, toInstanceKey(request), {
        requestId: request.id,
        requestedBy: { id, name },
        mode: request.body?.mode,
        actor: getActor(request),
      });
      if (!data) return reply.code(404).send(noSchedule);
      return reply.code(202).send({ success: true, message: 'Run requested', data });
    },
  );
  app.get(
    `${path}/runs`,
    {
      onRequest: onRead,
      schema: {
        operationId: toOperationId('listRuns'),
        tags,
        summary: 'The history of runs, newest first',
        description:
          'Pages by number, or by `cursor`. The newest 200 runs of each outcome are kept for each instance.',
        params: params({}),
        querystring: RunsQuery,
        response: {
          200: Type.Object({
            ...successResponse(Type.Array(RunItem)).properties,
            ...ListPageOf(RunItem).properties,
          }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const page = await listRuns(ctx, toInstanceKey(request), request.query);
      return { success: true as const, message: 'Runs retrieved', ...page };
    },
  );
  app.get(
    `${path}/runs/:runId`,
    {
      onRequest: onRead,
      schema: {
        operationId: toOperationId('getRun'),
        tags,
        summary: 'One run, with its attempts and its event',
        description: 'Has the newest attempts, with the reason why each ended.',
        params: params(runParams),
        response: { 200: successResponse(RunDetail), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const data = await getRun(ctx, toRunKey(request));
      return { success: true as const, message: 'Run retrieved', data };
    },
  );
  app.post(
    `${path}/runs/:runId/cancel`,
    {
      onRequest: onWrite,
      schema: {
        operationId: toOperationId('cancelRun'),
        tags,
        summary: 'Abort a run in progress; its schedule goes on',
        description:
          'Takes effect on any replica, also while a worker has the run: its next report says so. A one-off schedule has then had its run. A run that has ended is 409.',
        params: params(runParams),
        response: { 200: successResponse(RunDetail), ...errorResponses(400, 401, 403, 404, 409, runEnded()) },
      },
    },
    async (request) => {
      const data = await cancelRunInProgress(ctx, toRunKey(request), getActor(request));
      return { success: true as const, message: 'Run cancelled', data };
    },
  );
}

/** A run by its id alone, which logs, events and mails name. [CRAWL-72] */
function findRunRoute(app: App, ctx: ApiContext): void {
  app.get(
    '/api/v1/crawlingManager/runs/:runId',
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'findRun',
        tags,
        summary: 'One run of any connector, by its id alone',
        description: 'For whoever has an id and no connector, such as from an event or a mail.',
        params: Type.Object(runParams),
        response: { 200: successResponse(RunItem), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { orgId } = getAccount(request);
      const data = await findRunOfAnyConnector(
        ctx,
        { orgId, runId: request.params.runId },
        toConnectorFilter(request),
      );
      return { success: true as const, message: 'Run retrieved', data };
    },
  );
}

export function runRoutes(app: App, ctx: ApiContext): void {
  findRunRoute(app, ctx);
  for (const routes of instanceRoutes) runRoutesOf(app, ctx, routes);
}
