import { getAccount } from '@platform/auth';
import { AppError, type App, createErrorHandler, translateError } from '@platform/service-kit';
import type { ApiContext } from '../context.js';
import { administrators, checksBounds, toConnectorFilter } from '../authority.js';
import { crawlErrors } from '../error-format.js';
import { base } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';
import { DayStatistics, Statistics, loadDayStatistics, loadStatistics } from './service.js';

const handle = createErrorHandler(crawlErrors);

/** CRAWL-21 fixes the message of this failure. An unavailable database is 503, as everywhere. */
const statisticsFailed: typeof handle = (thrown, request, reply) => {
  const error = translateError(thrown);
  const message = 'Failed to retrieve queue statistics';
  const publicError =
    error.statusCode === 500
      ? new AppError({ status: 500, code: 'INTERNAL_ERROR', message, cause: thrown })
      : error;
  handle(publicError, request, reply);
};

/** The routes are for administrators with `crawl:read`. */
export function statisticsRoutes(app: App, ctx: ApiContext): void {
  app.get(
    `${base}/stats`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      errorHandler: statisticsFailed,
      schema: {
        operationId: 'getStatistics',
        tags: ['Crawl schedules'],
        summary: "Counts of the organisation's jobs and runs",
        description: 'A token that is limited to connectors counts those alone.',
        response: { 200: successResponse(Statistics), ...errorResponses(401, 403, 500) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Queue statistics retrieved',
      data: await loadStatistics(ctx, getAccount(request).orgId, toConnectorFilter(request)),
    }),
  );
  app.get(
    `${base}/stats/day`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      errorHandler: statisticsFailed,
      schema: {
        operationId: 'getDayStatistics',
        tags: ['Crawl schedules'],
        summary: 'Runs that ended in the last 24 hours',
        description: 'Counted from the history of runs that is kept.',
        response: { 200: successResponse(DayStatistics), ...errorResponses(401, 403, 500) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Statistics of the day retrieved',
      data: await loadDayStatistics(ctx, getAccount(request).orgId, toConnectorFilter(request)),
    }),
  );
}
