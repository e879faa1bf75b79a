import {
  type AuthErrorMessages,
  type OverlappedAuthentication,
  requireAdmin,
  requireScopes,
  standardAuthErrors,
} from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';

/** The message is the same for a missing and an invalid credential (CRAWL-23). */
export const crawlAuthErrors: AuthErrorMessages = {
  missingCredential: 'Unauthorized access',
  invalidCredential: 'Unauthorized access',
  insufficientScope: standardAuthErrors.insufficientScope,
};

const requireAdminRole = requireAdmin();

/** Checks the credential, then its scope, then the administrator's role, in this order. */
export const administrators = (
  app: App,
  scope: 'crawl:read' | 'crawl:write' | 'crawl:delete',
): onRequestHookHandler[] => [app.authenticate, requireScopes([scope], crawlAuthErrors), requireAdminRole];

/** The same checks for a route that only reads: its query runs while the credential is verified. */
export function administratorsReading<T>(
  app: App,
  load: (orgId: string, request: FastifyRequest) => T | Promise<T>,
): Pick<OverlappedAuthentication<T>, 'load'> & { readonly onRequest: onRequestHookHandler[] } {
  const { authenticate, load: getLoaded } = app.authenticateWhile(load);
  return {
    onRequest: [authenticate, requireScopes(['crawl:read'], crawlAuthErrors), requireAdminRole],
    load: getLoaded,
  };
}
