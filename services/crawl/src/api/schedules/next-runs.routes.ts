import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { PreviewBody } from '../../domain/schedule-config.js';
import { administrators } from '../authority.js';
import { base, ConnectorPath, toConnector, NoSchedule, noSchedule } from '../params.js';
import { errorResponses, bearer, successResponse } from '../responses.js';
import { ownBodyCheck } from './body-errors.js';
import { NextRuns, NextRunsQuery, type NextRunsService } from './next-runs.js';

const tags = ['Crawl schedules'];
const message = 'Next runs calculated';

/** The routes are for administrators with `crawl:read`. */
export function nextRunRoutes(app: App, service: NextRunsService): void {
  const onRequest = administrators(app, 'crawl:read');
  app.get(
    `${base}/:connector/next-runs`,
    {
      onRequest,
      schema: {
        operationId: 'listNextRuns',
        tags,
        summary: 'When the schedule runs next, in UTC and in its zone',
        security: bearer,
        params: ConnectorPath,
        querystring: NextRunsQuery,
        response: { 200: successResponse(NextRuns), ...errorResponses(400, 401, 403), 404: NoSchedule },
      },
    },
    async (request, reply) => {
      const data = await service.list(
        getAccount(request).orgId,
        toConnector(request.params),
        request.query.count,
      );
      if (!data) return reply.code(404).send(noSchedule);
      return { success: true as const, message, data };
    },
  );
  app.post(
    `${base}/:connector/preview`,
    {
      onRequest,
      ...ownBodyCheck,
      schema: {
        operationId: 'previewSchedule',
        tags,
        summary: 'When a configuration that is not saved would run',
        security: bearer,
        params: ConnectorPath,
        querystring: NextRunsQuery,
        body: PreviewBody,
        response: { 200: successResponse(NextRuns), ...errorResponses(400, 401, 403) },
      },
    },
    (request, reply) => {
      const { orgId } = getAccount(request);
      const data = service.preview(orgId, toConnector(request.params), request.body, request.query.count);
      void reply.send({ success: true, message, data });
    },
  );
}
