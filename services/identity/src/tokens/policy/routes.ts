import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { SavedTokenPolicy, TokenPolicyAnswer, TokenPolicyBody } from './schemas.js';
import type { TokenPolicyService } from './service.js';
import { unlessDryRun } from '../../base/confirmation.js';

const path = '/api/v1/organisation/token-policy';
const tags = ['Personal access tokens'];

/** Registers the routes for administrators, who need a session: a token must not loosen the policy that it is subject to. */
export function tokenPolicyRoutes(app: App, service: TokenPolicyService): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getTokenPolicy',
        tags,
        summary: "The organisation's policy for tokens",
        response: { 200: TokenPolicyAnswer, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ policy: await service.get(getMember(request)) }),
  );
  app.put(
    path,
    {
      onRequest,
      config: { needsConfirmation: unlessDryRun },
      schema: {
        operationId: 'saveTokenPolicy',
        tags,
        summary: "Save the organisation's policy for tokens, or find out what it would do",
        querystring: Type.Object(
          { dryRun: Type.Boolean({ default: false, description: 'Change nothing.' }) },
          { required: [], additionalProperties: false },
        ),
        body: TokenPolicyBody,
        response: { 200: SavedTokenPolicy, ...errorResponses(400, 401, 403, 409) },
      },
    },
    (request) => service.save(getCaller(request), request.body, request.query.dryRun),
  );
}
