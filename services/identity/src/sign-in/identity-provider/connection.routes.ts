import { requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { IdentityProviderContext } from './context.js';
import { disconnectMember, disconnectOwn, getOwnConnection } from './connections.js';
import { OwnConnection } from './schemas.js';
import { inAnySession } from '../../base/confirmation.js';
import { noAdministratorLeft, notLinked, providerIsRequired } from './errors.js';

/** For administrators, with a session. */
export function memberConnectionRoutes(app: App, ctx: IdentityProviderContext): void {
  app.delete(
    '/api/v1/users/:id/identity-provider',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      config: inAnySession,
      schema: {
        operationId: 'unlinkIdentityProvider',
        tags: ['Users'],
        summary: "Disconnect a member's account from the identity at the provider; its sessions end",
        description:
          'The account stays. At the next sign-in with the provider, the member confirms the connection again.',
        params: IdPath,
        response: {
          200: Message,
          ...errorResponses(400, 401, 403, 404, 409, noAdministratorLeft(), notLinked()),
        },
      },
    },
    async (request) => {
      await disconnectMember(ctx, getCaller(request), request.params.id);
      return { message: 'Account disconnected' };
    },
  );
}

/** For members with a session: their own account. */
export function ownConnectionRoutes(app: App, ctx: IdentityProviderContext): void {
  const path = '/api/v1/auth/identity-provider';
  const tags = ['Account'];
  const onRequest = [app.authenticate, requireSession];
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: 'getProviderConnection',
        tags,
        summary: 'Whether the own account is connected with an identity at the provider',
        description: 'Says which provider the organisation has, and when the account was connected.',
        response: { 200: OwnConnection, ...errorResponses(401, 403) },
      },
    },
    (request) => getOwnConnection(ctx, getCaller(request)),
  );
  app.delete(
    path,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'disconnectProvider',
        tags,
        summary: 'Disconnect the own account; the other sessions that the provider opened end',
        description:
          'The account stays, and signs in with a password or a code. Where the organisation requires the provider, it cannot be disconnected.',
        response: { 200: Message, ...errorResponses(401, 403, 409, providerIsRequired(), notLinked()) },
      },
    },
    async (request) => {
      await disconnectOwn(ctx, getCaller(request));
      return { message: 'Account disconnected' };
    },
  );
}
