import type { App } from '@platform/service-kit';
import { getAccount } from '@platform/auth';
import { administrators, checksBounds, toConnectorFilter } from '../authority.js';
import { base } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import type { ApiContext } from '../context.js';
import { QueueView } from './schemas.js';
import { loadQueue } from './service.js';

/** The routes are for administrators with `crawl:read`. */
export function queueRoutes(app: App, ctx: ApiContext): void {
  app.get(
    `${base}/queue`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'getQueue',
        tags: ['Crawl schedules'],
        summary: 'What waits, runs and ended in the last hour, by connector',
        description: '`waitingSince` says for how long a run has waited for a worker.',
        response: { 200: successResponse(QueueView), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Queue retrieved',
      data: await loadQueue(ctx, getAccount(request).orgId, toConnectorFilter(request)),
    }),
  );
}
