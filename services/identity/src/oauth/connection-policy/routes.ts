import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { unlessDryRun } from '../../base/confirmation.js';
import { ConnectionPolicyAnswer, ConnectionPolicyBody, SavedConnectionPolicy } from './schemas.js';
import { changeConnectionPolicy, type ConnectionPolicyContext, getConnectionPolicy } from './service.js';

const path = '/api/v1/organisation/connection-policy';
const tags = ['Connected apps'];

/** For administrators, with a session. [OAUTH-11] */
function connectionPolicyRoutes(app: App, ctx: ConnectionPolicyContext, isRegistrationOpen: boolean): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getConnectionPolicy',
        tags,
        summary: 'Which applications members may connect',
        description: 'Says also whether the operator lets clients register themselves.',
        response: { 200: ConnectionPolicyAnswer, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      policy: (await getConnectionPolicy(ctx, getMember(request))) as ConnectionPolicyBody,
      isRegistrationOpen,
    }),
  );
  app.put(
    path,
    {
      onRequest,
      config: { needsConfirmation: unlessDryRun },
      schema: {
        operationId: 'saveConnectionPolicy',
        tags,
        summary: 'Save which applications members may connect, or find out which connections would end',
        description:
          'Replaces the policy as a whole. Connections that it does not allow end at once. With `dryRun=true` nothing is saved, and the answer names the connections that would end, at most 1,000 of them.',
        querystring: Type.Object(
          { dryRun: Type.Boolean({ default: false, description: 'Change nothing.' }) },
          { required: [], additionalProperties: false },
        ),
        body: ConnectionPolicyBody,
        response: { 200: SavedConnectionPolicy, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => changeConnectionPolicy(ctx, getCaller(request), request.body, request.query.dryRun),
  );
}

/** Registers the policy that says which applications members may connect. */
export function registerConnectionPolicy(
  app: App,
  deps: ConnectionPolicyContext & { readonly isRegistrationOpen: boolean },
): void {
  connectionPolicyRoutes(app, deps, deps.isRegistrationOpen);
}
