import { getAccount } from '@platform/auth';
import { type App, PageQuery, Pagination } from '@platform/service-kit';
import { Type } from 'typebox';
import { administrators } from '../authority.js';
import { base, ConnectorPath, toConnector, NoSchedule, noSchedule } from '../params.js';
import { errorResponses, bearer, successResponse } from '../responses.js';
import { RequestedRun, RunItem } from './schemas.js';
import type { RunService } from './service.js';

const tags = ['Crawl runs'];

/** Administrators, with `crawl:write` to run and `crawl:read` to look. */
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
        response: {
          202: successResponse(RequestedRun),
          ...errorResponses(400, 401, 403, 409),
          404: NoSchedule,
        },
      },
    },
    async (request, reply) => {
      const data = await service.request(getAccount(request).orgId, toConnector(request.params), request.id);
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
        querystring: PageQuery,
        response: {
          200: Type.Object({ ...successResponse(Type.Array(RunItem)).properties, pagination: Pagination }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request) => {
      const page = await service.list(getAccount(request).orgId, toConnector(request.params), request.query);
      return { success: true as const, message: 'Runs retrieved', ...page };
    },
  );
}
