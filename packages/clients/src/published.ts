// The npm package: what programs outside of the platform use. Routes between its services are left out.
export {
  type CallContext,
  type CallInput,
  type CallResult,
  type ClientOptions,
  type CrawlClient,
  type CrawlOperations,
  createCrawlClient,
  createIdentityClient,
  createMailClient,
  type FaultDetail,
  type IdentityClient,
  type IdentityOperations,
  type MailClient,
  type MailOperations,
  ServiceFault,
  type ServiceFaultKind,
} from './index.js';
