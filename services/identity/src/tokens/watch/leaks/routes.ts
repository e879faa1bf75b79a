import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { errorResponses } from '../../../base/openapi.js';
import { LeakReportBody } from './schemas.js';
import type { LeakReportLimit } from './report-limit.js';
import type { LeakReports } from './service.js';

const MAX_BODY_BYTES = 1_048_576;

/** Registers the route for everybody who has found tokens. [PAT-31] */
export function leakReportRoutes(app: App, report: LeakReports['report'], limit: LeakReportLimit): void {
  app.post(
    '/api/v1/personal-access-tokens/leaked',
    {
      bodyLimit: MAX_BODY_BYTES,
      // Before the body is read: its size is what strangers could use up.
      onRequest: (request) => limit.count(request.ip),
      schema: {
        operationId: 'reportLeakedTokens',
        tags: ['Personal access tokens'],
        summary: 'Report tokens that were found in public; those that are alive are revoked',
        security: [],
        body: LeakReportBody,
        response: { 202: Type.Object({ message: Type.String() }), ...errorResponses(400, 413, 429) },
      },
    },
    async (request, reply) => {
      await report(request.body);
      return reply.code(202).send({ message: 'Thank you. What is alive of these is revoked.' });
    },
  );
}
