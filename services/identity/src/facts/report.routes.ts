import { assertService, demandService, getPrincipal, withDemand } from '@platform/auth';
import {
  CRAWL_FACTS_SCOPE,
  FACTS_PATH,
  MAIL_FACTS_SCOPE,
  MAX_FACTS,
  OPERATOR_ACTION,
  ReportedFact,
} from '@platform/events';
import { type App, errorResponses } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';
import { Type } from 'typebox';
import { type ReportContext, storeReports } from './reports.js';

/** The largest fact has a reason of 2,000 characters, or a dozen values of 300. */
const MAX_FACT_BYTES = 10_000;

const Facts = Type.Object(
  { facts: Type.Array(ReportedFact, { minItems: 1, maxItems: MAX_FACTS }) },
  { additionalProperties: false },
);

const toScope = ({ type }: ReportedFact): string =>
  type.startsWith('mail.') ? MAIL_FACTS_SCOPE : CRAWL_FACTS_SCOPE;

/** Whether an operator has run a command, which each service reports of itself. */
const isOfOperator = (fact: ReportedFact): boolean =>
  fact.type === 'audit.entry' && fact.data.action === OPERATOR_ACTION;

/** Refuses everybody else before the body is read. */
export const requireReporter: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    const principal = getPrincipal(request);
    const isOfMail = principal.grantedScopes.has(MAIL_FACTS_SCOPE);
    assertService(principal, isOfMail ? MAIL_FACTS_SCOPE : CRAWL_FACTS_SCOPE);
    done();
  },
  demandService(),
);

/**
 * Registers the route by which the other services report what happened there. It is stored when the route answers, so they can
 * forget it. It requires a service credential with `facts:crawl` or `facts:mail`, each for the facts of that service.
 */
export function registerFactReports(app: App, ctx: ReportContext): void {
  app.post(
    FACTS_PATH,
    {
      onRequest: [app.authenticate, requireReporter],
      bodyLimit: MAX_FACTS * MAX_FACT_BYTES,
      schema: {
        operationId: 'reportFacts',
        tags: ['Services'],
        summary:
          'Report what happened in another service: entries of the audit, ends of runs and mails, crawls that keep failing',
        body: Facts,
        response: { 200: Type.Object({ stored: Type.Integer() }), ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { facts } = request.body;
      const ofService = facts.filter((fact) => !isOfOperator(fact));
      for (const scope of new Set(ofService.map(toScope))) assertService(getPrincipal(request), scope);
      await storeReports(ctx, facts, request.id);
      return { stored: facts.length };
    },
  );
}
