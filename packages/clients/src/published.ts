// The npm package: what programs outside of the platform use. Routes between its services are left out.
import { crawlRoutes } from './generated/crawl.routes.js';
import type { operations as CrawlOperations } from './generated/crawl.published.types.js';
import { identityRoutes } from './generated/identity.routes.js';
import type { operations as IdentityOperations } from './generated/identity.published.types.js';
import { mailRoutes } from './generated/mail.routes.js';
import type { operations as MailOperations } from './generated/mail.published.types.js';
import { createServiceCalls, type PlatformClientOptions } from './platform-client.js';

export type { CrawlOperations, IdentityOperations, MailOperations };
export type { FaultDetail } from '@platform/service-kit/platform-response';
export type { CallInput, CallResult } from './call-types.js';
export type { CallOptions, PlatformClientOptions, ServiceCalls } from './platform-client.js';
export { PlatformError, type PlatformErrorKind, type RawResponse } from './platform-error.js';

/** Creates a client of the platform. It keeps nothing open that has to be closed. */
export const createPlatformClient = (options: PlatformClientOptions) => ({
  identity: createServiceCalls<IdentityOperations>('identity', identityRoutes, options),
  mail: createServiceCalls<MailOperations>('mail', mailRoutes, options),
  crawl: createServiceCalls<CrawlOperations>('crawl', crawlRoutes, options),
});

export type PlatformClient = ReturnType<typeof createPlatformClient>;
