import { getMember, requireSession } from '@platform/auth';
import { type App, type Clock, errorResponses } from '@platform/service-kit';
import type pg from 'pg';
import { requireAdminRole } from '../../base/authority.js';
import { Attempts, listAttempts, listOrganisationAttempts } from './service.js';

/**
 * Registers what the authorization server and the tool endpoint saw of each attempt to connect. Members with a session see their
 * own, and what came from their network within two hours and belongs to nobody; administrators see those of all members.
 */
export function registerAttempts(app: App, deps: { readonly pool: pg.Pool; readonly clock: Clock }): void {
  const base = '/api/v1/agents/attempts';
  app.get(
    base,
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'listConnectionAttempts',
        tags: ['Agents'],
        summary: 'The latest attempts to connect an agent of the caller, and the step at which each is stuck',
        description:
          'Before somebody has signed in, an attempt is shown to members whose browser is in the network that it came from, for two hours.',
        response: { 200: Attempts, ...errorResponses(401, 403) },
      },
    },
    (request) => listAttempts(deps, getMember(request), request.ip),
  );
  app.get(
    `${base}/all`,
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      schema: {
        operationId: 'listOrganisationConnectionAttempts',
        tags: ['Agents'],
        summary: 'The latest attempts of members of the organisation to connect an agent',
        description: 'Says of each what the client asked, and whose turn it is.',
        response: { 200: Attempts, ...errorResponses(401, 403) },
      },
    },
    (request) => listOrganisationAttempts(deps.pool, getMember(request)),
  );
}
