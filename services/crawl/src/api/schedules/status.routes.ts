import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { administrators } from '../authority.js';
import { base, ConnectorPath, toConnector, NoSchedule, noSchedule } from '../params.js';
import { errorResponses, bearer, successResponse } from '../responses.js';
import type { ScheduleService } from './service.js';
import { StatusItem } from './status-item.js';

const tags = ['Crawl schedules'];

/** These routes are for administrators with `crawl:read`. */
export function statusRoutes(app: App, service: ScheduleService): void {
  const onRequest = administrators(app, 'crawl:read');
  app.get(
    `${base}/:connector/schedule`,
    {
      onRequest,
      schema: {
        operationId: 'getSchedule',
        tags,
        summary: "The connector's current or next run",
        security: bearer,
        params: ConnectorPath,
        response: { 200: successResponse(StatusItem), ...errorResponses(400, 401, 403), 404: NoSchedule },
      },
    },
    async (request, reply) => {
      const data = await service.status(getAccount(request).orgId, toConnector(request.params));
      if (!data) return reply.code(404).send(noSchedule);
      return { success: true as const, message: 'Job status retrieved', data };
    },
  );
  app.get(
    `${base}/schedule/all`,
    {
      onRequest,
      schema: {
        operationId: 'listSchedules',
        tags,
        summary: "All of the organisation's, by connector",
        security: bearer,
        response: { 200: successResponse(Type.Array(StatusItem)), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Job statuses retrieved',
      data: await service.list(getAccount(request).orgId),
    }),
  );
}
