import type { App } from '@platform/service-kit';
import type { ApiContext } from '../context.js';
import { PreviewBody } from '../../domain/schedule-config.js';
import { managers } from '../authority.js';
import { instanceRoutes, type InstanceRoutes, NoSchedule, noSchedule, toInstanceKey } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import { ownBodyCheck } from './body-errors.js';
import { NextRuns, NextRunsQuery, listNextRuns, previewSchedule } from './next-runs.js';

const tags = ['Crawl schedules'];
const message = 'Next runs calculated';

/** The routes are for administrators and owners with `crawl:read`. */
function nextRunRoutesOf(app: App, ctx: ApiContext, { path, params, toOperationId }: InstanceRoutes): void {
  const onRequest = managers(app, 'crawl:read', ctx);
  app.get(
    `${path}/next-runs`,
    {
      onRequest,
      schema: {
        operationId: toOperationId('listNextRuns'),
        tags,
        summary: 'When the schedule runs next, in UTC and in its zone',
        description: 'Up to `count` times, 10 by default. A paused schedule has none.',
        params: params({}),
        querystring: NextRunsQuery,
        response: { 200: successResponse(NextRuns), ...errorResponses(400, 401, 403), 404: NoSchedule },
      },
    },
    async (request, reply) => {
      const data = await listNextRuns(ctx, toInstanceKey(request), request.query.count);
      if (!data) return reply.code(404).send(noSchedule);
      return { success: true as const, message, data };
    },
  );
  app.post(
    `${path}/preview`,
    {
      onRequest,
      ...ownBodyCheck,
      schema: {
        operationId: toOperationId('previewSchedule'),
        tags,
        summary: 'When a configuration that is not saved would run',
        description: 'Checks the configuration as `schedule` does, and stores nothing.',
        params: params({}),
        querystring: NextRunsQuery,
        body: PreviewBody,
        response: { 200: successResponse(NextRuns), ...errorResponses(400, 401, 403) },
      },
    },
    (request, reply) => {
      const data = previewSchedule(ctx, toInstanceKey(request), request.body, request.query.count);
      void reply.send({ success: true, message, data });
    },
  );
}

export function nextRunRoutes(app: App, ctx: ApiContext): void {
  for (const routes of instanceRoutes) nextRunRoutesOf(app, ctx, routes);
}
