import { MAX_REFUSALS, REFUSALS_PATH, RefusedRequest } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireReporter } from '../../facts/report.routes.js';
import type { ToolCallRecorder } from './recorder.js';

/** Twice the longest refusal, whose client id is a URL of 2,048 characters. */
const MAX_REFUSAL_BYTES = 5_000;

/**
 * Registers the route by which the other services report requests that they refused to a token. It requires a service credential
 * with `facts:crawl` or `facts:mail`.
 */
export function refusalReportRoutes(app: App, recorder: Pick<ToolCallRecorder, 'recordRefusal'>): void {
  app.post(
    REFUSALS_PATH,
    {
      onRequest: [app.authenticate, requireReporter],
      bodyLimit: MAX_REFUSALS * MAX_REFUSAL_BYTES,
      schema: {
        operationId: 'reportRefusals',
        tags: ['Services'],
        summary: 'Report requests that another service refused to a token',
        body: Type.Object(
          { refusals: Type.Array(RefusedRequest, { minItems: 1, maxItems: MAX_REFUSALS }) },
          { additionalProperties: false },
        ),
        response: { 200: Type.Object({ accepted: Type.Integer() }), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => {
      const { refusals } = request.body;
      for (const refusal of refusals) recorder.recordRefusal(refusal);
      return { accepted: refusals.length };
    },
  );
}
