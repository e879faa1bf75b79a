import { getAccount } from '@platform/auth';
import { type App, ListPageOf } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { administrators } from '../authority.js';
import { base, ConnectorPath, toConnector, NoSchedule, noSchedule } from '../params.js';
import { errorResponses, bearer, successResponse } from '../responses.js';
import { RequestedRun, RunRequest, RunDetail, RunItem, RunPath, RunsQuery } from './schemas.js';
import type { RunKey, RunService } from './service.js';

const tags = ['Crawl runs'];

const toRunKey = (request: FastifyRequest<{ Params: RunPath }>): RunKey => ({
  orgId: getAccount(request).orgId,
  connector: toConnector(request.params),
  runId: request.params.runId,
});

/** The routes are for administrators: `crawl:write` to run or cancel, `crawl:read` to read. */
export function runRoutes(app: App, service: RunService): void {
  app.post(
    `${base}/:connector/run`,
    {
      onRequest: administrators(app, 'crawl:write'),
      schema: {
        operationId: 'runNow',
        tags,
        summary: 'Run a scheduled connector now, beside its schedule',
        security: bearer,
        params: ConnectorPath,
        body: RunRequest,
        response: {
          202: successResponse(RequestedRun),
          ...errorResponses(400, 401, 403, 409),
          404: NoSchedule,
        },
      },
    },
    async (request, reply) => {
      const { orgId } = getAccount(request);
      const data = await service.request(orgId, toConnector(request.params), {
        requestId: request.id,
        mode: request.body?.mode,
      });
      if (!data) return reply.code(404).send(noSchedule);
      return reply.code(202).send({ success: true, message: 'Run requested', data });
    },
  );
  app.get(
    `${base}/:connector/runs`,
    {
      onRequest: administrators(app, 'crawl:read'),
      schema: {
        operationId: 'listRuns',
        tags,
        summary: 'The history of runs, newest first',
        security: bearer,
        params: ConnectorPath,
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
      const page = await service.list(getAccount(request).orgId, toConnector(request.params), request.query);
      return { success: true as const, message: 'Runs retrieved', ...page };
    },
  );
  app.get(
    `${base}/:connector/runs/:runId`,
    {
      onRequest: administrators(app, 'crawl:read'),
      schema: {
        operationId: 'getRun',
        tags,
        summary: 'One run, with its attempts and its event',
        security: bearer,
        params: RunPath,
        response: { 200: successResponse(RunDetail), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const data = await service.get(toRunKey(request));
      return { success: true as const, message: 'Run retrieved', data };
    },
  );
  app.post(
    `${base}/:connector/runs/:runId/cancel`,
    {
      onRequest: administrators(app, 'crawl:write'),
      schema: {
        operationId: 'cancelRun',
        tags,
        summary: 'Abort a run in progress; its schedule goes on',
        security: bearer,
        params: RunPath,
        response: { 200: successResponse(RunDetail), ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      const data = await service.cancel(toRunKey(request));
      return { success: true as const, message: 'Run cancelled', data };
    },
  );
}
