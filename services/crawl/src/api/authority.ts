import {
  adminRequired,
  type AuthErrorMessages,
  canUseConnector,
  getPrincipal,
  requireAdmin,
  requireScopes,
  standardAuthErrors,
  withDemand,
} from '@platform/auth';
import { DEFAULT_INSTANCE } from '@platform/events';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify';
import { isInstanceOwner } from '../db/instances.js';
import type { ApiContext } from './context.js';
import { canonicalConnector } from '../domain/connectors.js';
import type { ConnectorParams } from './params.js';

/** The message is the same for a missing and an invalid credential (CRAWL-23). */
export const crawlAuthErrors: AuthErrorMessages = {
  missingCredential: 'Unauthorized access',
  invalidCredential: 'Unauthorized access',
  insufficientScope: standardAuthErrors.insufficientScope,
};

const requireAdminRole = requireAdmin();

type CrawlScope = 'crawl:read' | 'crawl:write' | 'crawl:delete' | 'crawl:work';

export const outOfBounds = (): AppError =>
  new AppError({
    status: 403,
    code: 'OUT_OF_BOUNDS',
    message: 'This is outside of the connectors that the credential is limited to',
  });

/** A route without a connector in its path concerns all of them. [CRAWL-55] */
const requireConnector: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    const { connector = '' } = request.params as Partial<ConnectorParams>;
    if (!canUseConnector(getPrincipal(request), canonicalConnector(connector))) throw outOfBounds();
    done();
  },
  { errors: [outOfBounds()] },
);

/** A route that shows, or accepts, the connectors in the bounds of the credential alone. */
interface BoundsRule {
  readonly checksBounds: true;
}
export const checksBounds: BoundsRule = { checksBounds: true };

/** Returns which connectors the credential of the request may be used for. */
export const toConnectorFilter = (request: FastifyRequest): ConnectorFilter => {
  const principal = getPrincipal(request);
  return (connector) => canUseConnector(principal, connector);
};
export type ConnectorFilter = (connector: string) => boolean;

/** Checks the credential, then its scope and its bounds. @param rule - for a route that does the latter itself. */
export const accounts = (app: App, scope: CrawlScope, rule?: BoundsRule): onRequestHookHandler[] => [
  app.authenticate,
  requireScopes([scope], crawlAuthErrors),
  ...(rule ? [] : [requireConnector]),
];

/** Checks the credential, then its scope and bounds, then the administrator's role, in this order. */
export const administrators = (app: App, scope: CrawlScope, rule?: BoundsRule): onRequestHookHandler[] => [
  ...accounts(app, scope, rule),
  requireAdminRole,
];

const requireManager = ({ pool }: ApiContext): onRequestAsyncHookHandler =>
  withDemand<onRequestAsyncHookHandler>(
    async (request) => {
      const principal = getPrincipal(request);
      if (principal.kind !== 'service') {
        if (principal.role === 'admin') return;
        const { connector: given, instance = DEFAULT_INSTANCE } = request.params as ConnectorParams;
        const connector = canonicalConnector(given);
        const { orgId, userId } = principal;
        // The path is not validated yet; PostgreSQL cannot read a NUL.
        const key = connector && !instance.includes('\0') ? { orgId, connector, instance } : undefined;
        if (key && (await isInstanceOwner(pool, key, userId))) return;
      }
      throw new AppError(adminRequired);
    },
    { who: 'an administrator, or the member who owns the instance', errors: [new AppError(adminRequired)] },
  );

/** The same as {@link administrators}, but the member who owns the instance of the path passes, too. */
export const managers = (
  app: App,
  scope: CrawlScope,
  ctx: ApiContext,
): (onRequestHookHandler | onRequestAsyncHookHandler)[] => [...accounts(app, scope), requireManager(ctx)];
