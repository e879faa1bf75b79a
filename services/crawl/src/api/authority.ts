import { type AuthErrorMessages, requireAdmin, requireScopes, standardAuthErrors } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';

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
  scope: 'crawl:read' | 'crawl:write' | 'crawl:delete' | 'crawl:work',
): onRequestHookHandler[] => [app.authenticate, requireScopes([scope], crawlAuthErrors), requireAdminRole];
