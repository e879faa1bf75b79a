import { type RefusalMessages, requireAdmin, requireScopes, standardRefusals } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';

/** The message is the same for a missing and an invalid credential (CRAWL-23). */
export const crawlRefusals: RefusalMessages = {
  missingCredential: 'Unauthorized access',
  invalidCredential: 'Unauthorized access',
  insufficientScope: standardRefusals.insufficientScope,
};

const requireAdminRole = requireAdmin({
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
});

/** A living credential, then its scope, then the administrator's role: in this order. */
export const administrators = (
  app: App,
  scope: 'crawl:read' | 'crawl:write' | 'crawl:delete',
): onRequestHookHandler[] => [app.authenticate, requireScopes([scope], crawlRefusals), requireAdminRole];
