import { requireSession } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { bearer, errorResponses } from '../../base/openapi.js';
import { RepeatedInvitation } from './schemas.js';
import { createInvitations, type Invitations } from './service.js';
import { UserPath } from '../members/schemas.js';

/** For administrators, with a session: whoever has the link of an invitation can log in as the invitee. */
function invitationRoutes(app: App, invitations: Invitations): void {
  app.post(
    '/api/v1/users/:id/invitation',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      config: { needsConfirmation: always },
      schema: {
        operationId: 'repeatInvitation',
        tags: ['Users'],
        summary: 'Send an invitation again, or get its link where there is no SMTP server',
        security: bearer,
        params: UserPath,
        response: { 200: RepeatedInvitation, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      // The link lets its holder in.
      void reply.header('cache-control', 'no-store');
      return invitations.repeat(getCaller(request), request.params.id);
    },
  );
}

/** Registers repeating an invitation. Members are invited with the feature `users`. */
export function registerInvitations(app: App, deps: Parameters<typeof createInvitations>[0]): void {
  invitationRoutes(app, createInvitations(deps));
}
