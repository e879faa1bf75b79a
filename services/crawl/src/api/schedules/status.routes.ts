import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import { administrators, checksBounds, managers, toConnectorFilter } from '../authority.js';
import { base, type InstanceRoutes, NoSchedule, noSchedule, toInstanceKey } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import { StatusItem } from './status-item.js';
import { getStatus, listStatuses } from './service.js';

const tags = ['Crawl schedules'];

/** The route is for administrators and owners with `crawl:read`. */
export function statusRoute(
  app: App,
  ctx: ApiContext,
  { path, params, toOperationId }: InstanceRoutes,
): void {
  app.get(
    `${path}/schedule`,
    {
      onRequest: managers(app, 'crawl:read', ctx),
      schema: {
        operationId: toOperationId('getSchedule'),
        tags,
        summary: "The connector's current or next run",
        description:
          'Of a recurring schedule, it describes the run in progress or the next one; of a one-off job, the job itself until it leaves the history. `standstill` says why nothing is crawled.',
        params: params({}),
        response: { 200: successResponse(StatusItem), ...errorResponses(400, 401, 403), 404: NoSchedule },
      },
    },
    async (request, reply) => {
      const data = await getStatus(ctx, toInstanceKey(request));
      if (!data) return reply.code(404).send(noSchedule);
      return { success: true as const, message: 'Job status retrieved', data };
    },
  );
}

/** The route is for administrators with `crawl:read`. */
export function listRoute(app: App, ctx: ApiContext): void {
  app.get(
    `${base}/schedule/all`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'listSchedules',
        tags,
        summary: "All of the organisation's, by connector",
        description:
          'Has one status item for each schedule, also paused ones. A token that is limited to connectors sees those alone.',
        response: { 200: successResponse(Type.Array(StatusItem)), ...errorResponses(401, 403) },
      },
    },
    async (request) => {
      const isShown = toConnectorFilter(request);
      const data = (await listStatuses(ctx, getAccount(request).orgId)).filter((item) =>
        isShown(item.data.connector),
      );
      return { success: true as const, message: 'Job statuses retrieved', data };
    },
  );
}
