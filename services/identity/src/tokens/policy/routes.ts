import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { SavedTokenPolicy, TokenPolicyAnswer, TokenPolicyBody } from './schemas.js';
import type { TokenContext } from '../context.js';
import { changeTokenPolicy, getTokenPolicy } from './service.js';
import { unlessDryRun } from '../../base/confirmation.js';
import { mailServiceRequired } from './service.js';

const path = '/api/v1/organisation/token-policy';
const tags = ['Personal access tokens'];

/** Registers the routes for administrators, who need a session: a token must not loosen the policy that it is subject to. */
export function tokenPolicyRoutes(app: App, ctx: TokenContext): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getTokenPolicy',
        tags,
        summary: "The organisation's policy for tokens",
        description:
          'The policy is in force for every token from the next request on, whenever the token was created.',
        response: { 200: TokenPolicyAnswer, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ policy: await getTokenPolicy(ctx, getMember(request)) }),
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
        description:
          'Replaces the policy as a whole. With `dryRun=true` nothing is saved, and the answer names at most 1,000 of the tokens that the policy would limit. Nothing is revoked by it: what a later policy allows works again; only `revokeUnusedDays` revokes.',
        querystring: Type.Object(
          { dryRun: Type.Boolean({ default: false, description: 'Change nothing.' }) },
          { required: [], additionalProperties: false },
        ),
        body: TokenPolicyBody,
        response: { 200: SavedTokenPolicy, ...errorResponses(400, 401, 403, 409, mailServiceRequired()) },
      },
    },
    (request) => changeTokenPolicy(ctx, getCaller(request), request.body, request.query.dryRun),
  );
}
