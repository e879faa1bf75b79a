import { type App, errorResponses, Message } from '@platform/service-kit';
import type { StartJob } from '../../../base/start-job.js';
import { createAttemptLimits } from '../../../base/rate-limits/attempt-limits.js';
import { createLeaksJob } from './leaks.job.js';
import { LeakReportBody, type LeakReportContext, reportLeaks } from './reports.js';

/** Reports in fifteen minutes, whatever they contain: those of a network, and those of everybody together. */
const PER_NETWORK = 60;
const PER_INSTANCE = 20 * PER_NETWORK;

const MAX_BODY_BYTES = 1_048_576;

/** Registers the route for everybody who has found tokens. [PAT-31] */
function leakReportRoutes(app: App, ctx: LeakReportContext): void {
  const limits = createAttemptLimits(ctx.pool, {
    name: 'leak-report',
    perSubject: PER_INSTANCE,
    perPair: PER_NETWORK,
    perAddress: PER_NETWORK,
    message: 'Too many reports: try again later',
  });
  app.post(
    '/api/v1/personal-access-tokens/leaked',
    {
      bodyLimit: MAX_BODY_BYTES,
      // Before the body is read: its size is what strangers could use up.
      onRequest: ({ ip }) => limits.begin('leak-report', { address: ip }),
      schema: {
        operationId: 'reportLeakedTokens',
        tags: ['Personal access tokens'],
        summary: 'Report tokens that were found in public; active ones are revoked',
        description:
          'Meant for secret scanning. The report is stored before anything is revoked, and the answer does not say which tokens are active. Owners and administrators are mailed. At most 60 reports from one network in 15 minutes.',
        body: LeakReportBody,
        response: { 202: Message, ...errorResponses(400, 413, 429) },
      },
    },
    async (request, reply) => {
      await reportLeaks(ctx, request.body);
      return reply.code(202).send({ message: 'Thank you. What is alive of these is revoked.' });
    },
  );
}

/** Registers reports of leaked tokens, and starts the job that revokes them. */
export function registerTokenLeaks(
  app: App,
  deps: Parameters<typeof createLeaksJob>[0] & { readonly startJob: StartJob },
): void {
  const { pool, clock } = deps;
  const job = createLeaksJob(deps);
  deps.startJob('leaked tokens', job);
  leakReportRoutes(app, { pool, clock, wake: job.wake });
}
