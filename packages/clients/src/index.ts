// Anything exported here is public: services and packages import from this file, and from types.ts.
import { crawlOperations } from './generated/crawl.operations.js';
import type { operations as CrawlOperations } from './generated/crawl.types.js';
import { identityOperations } from './generated/identity.operations.js';
import type { operations as IdentityOperations } from './generated/identity.types.js';
import { mailOperations } from './generated/mail.operations.js';
import type { operations as MailOperations } from './generated/mail.types.js';
import { mailInternalOperations } from './generated/mail.internal.operations.js';
import type { operations as MailInternalOperations } from './generated/mail.internal.types.js';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from './service-client.js';

export { crawlOperations, identityOperations, mailOperations };
export type { CrawlOperations, IdentityOperations, MailInternalOperations, MailOperations };
export type { CallContext } from './call-context.js';
export type { CallInput, CallResult } from './call-types.js';
export type { JsonSchema, ObjectSchema, Operation } from './operation.js';
export type { ServiceClient, ServiceClientOptions } from './service-client.js';
export type { FaultDetail } from '@platform/service-kit/platform-response';
export { ServiceFault, type ServiceFaultKind } from './service-fault.js';

export type CrawlClient = ServiceClient<CrawlOperations>;
export type IdentityClient = ServiceClient<IdentityOperations>;
export type MailClient = ServiceClient<MailOperations>;
/** Calls the routes of mail that are for the platform's own services. */
export type InternalMailClient = ServiceClient<MailInternalOperations>;

export type ClientOptions = Omit<ServiceClientOptions, 'service'>;

export const createCrawlClient = (options: ClientOptions): CrawlClient =>
  createServiceClient<CrawlOperations>(crawlOperations, { service: 'crawl', ...options });

export const createIdentityClient = (options: ClientOptions): IdentityClient =>
  createServiceClient<IdentityOperations>(identityOperations, { service: 'identity', ...options });

export const createMailClient = (options: ClientOptions): MailClient =>
  createServiceClient<MailOperations>(mailOperations, { service: 'mail', ...options });

export const createInternalMailClient = (options: ClientOptions): InternalMailClient =>
  createServiceClient<MailInternalOperations>(mailInternalOperations, { service: 'mail', ...options });
