import {
  adminRequired,
  type AuthErrorMessages,
  getPrincipal,
  requireAdmin,
  requireScopes,
  standardAuthErrors,
} from '@platform/auth';
import { DEFAULT_INSTANCE } from '@platform/events';
import { type App, AppError } from '@platform/service-kit';
import type { onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify';
import { canonicalConnector } from '../domain/connectors.js';
import type { InstanceKey } from '../domain/instance-key.js';
import type { ConnectorParams } from './params.js';

/** The message is the same for a missing and an invalid credential (CRAWL-23). */
export const crawlAuthErrors: AuthErrorMessages = {
  missingCredential: 'Unauthorized access',
  invalidCredential: 'Unauthorized access',
  insufficientScope: standardAuthErrors.insufficientScope,
};

const requireAdminRole = requireAdmin();

type CrawlScope = 'crawl:read' | 'crawl:write' | 'crawl:delete' | 'crawl:work';

/** Checks the credential, then its scope. */
export const accounts = (app: App, scope: CrawlScope): onRequestHookHandler[] => [
  app.authenticate,
  requireScopes([scope], crawlAuthErrors),
];

/** Checks the credential, then its scope, then the administrator's role, in this order. */
export const administrators = (app: App, scope: CrawlScope): onRequestHookHandler[] => [
  ...accounts(app, scope),
  requireAdminRole,
];

/** Returns whether a member owns an instance. */
export type IsOwner = (key: InstanceKey, userId: string) => Promise<boolean>;

const requireManager =
  (isOwner: IsOwner): onRequestAsyncHookHandler =>
  async (request) => {
    const principal = getPrincipal(request);
    if (principal.kind !== 'service') {
      if (principal.role === 'admin') return;
      const { connector: given, instance = DEFAULT_INSTANCE } = request.params as ConnectorParams;
      const connector = canonicalConnector(given);
      const { orgId, userId } = principal;
      // The path is not validated yet; PostgreSQL cannot read a NUL.
      if (connector && !instance.includes('\0') && (await isOwner({ orgId, connector, instance }, userId)))
        return;
    }
    throw new AppError(adminRequired);
  };

/** The same as {@link administrators}, but the member who owns the instance of the path passes, too. */
export const managers = (
  app: App,
  scope: CrawlScope,
  isOwner: IsOwner,
): (onRequestHookHandler | onRequestAsyncHookHandler)[] => [...accounts(app, scope), requireManager(isOwner)];
