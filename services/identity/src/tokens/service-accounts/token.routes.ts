import { getMember, requireSession } from '@platform/auth';
import { type App, bearer, errorResponses } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { TokenContext } from '../context.js';
import { createdMessage, sendSecret } from '../routes.js';
import { CreatedToken, GrantableScopes } from '../schemas.js';
import { AccountPath, CreateAccountTokenBody } from './schemas.js';
import type { ServiceAccounts } from './service.js';
import { createAccountToken, listAccountScopes } from './tokens.js';
import { always } from '../../base/confirmation.js';

const base = '/api/v1/service-accounts/:accountId/tokens';
const tags = ['Service accounts'];

/**
 * For administrators, with a session: creates the personal access tokens that act as a service account. They are listed,
 * edited, rotated and revoked with the routes of all tokens. [OAUTH-10]
 */
export function accountTokenRoutes(
  app: App,
  ctx: TokenContext,
  accounts: Pick<ServiceAccounts, 'get'>,
): void {
  const onRequest = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    `${base}/scopes`,
    {
      onRequest,
      schema: {
        operationId: 'listServiceAccountScopes',
        tags,
        summary: 'The scopes that a token of a service account can have, by category',
        security: bearer,
        params: AccountPath,
        response: { 200: GrantableScopes, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const principal = getMember(request);
      const account = await accounts.get(principal, request.params.accountId);
      return { scopes: await listAccountScopes(ctx, principal, account) };
    },
  );
  app.post(
    base,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'createServiceAccountToken',
        tags,
        summary: 'Create a token that acts as a service account; its value is shown once',
        security: bearer,
        params: AccountPath,
        body: CreateAccountTokenBody,
        response: { 201: CreatedToken, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const account = await accounts.get(caller, request.params.accountId);
      const token = await createAccountToken(ctx, caller, account, request.body);
      return sendSecret(reply, { message: createdMessage, token });
    },
  );
}
