// The types of the public routes, for programs of others that bring their own HTTP client. It loads nothing.
export type { components as CrawlSchemas, paths as CrawlPaths } from './generated/crawl.published.types.js';
export type {
  components as IdentitySchemas,
  paths as IdentityPaths,
} from './generated/identity.published.types.js';
export type { components as MailSchemas, paths as MailPaths } from './generated/mail.published.types.js';
