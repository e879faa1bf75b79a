// The types of the public routes, for programs that bring their own HTTP client. It loads nothing.
export type { components as CrawlSchemas, paths as CrawlPaths } from './generated/crawl.types.js';
export type { components as IdentitySchemas, paths as IdentityPaths } from './generated/identity.types.js';
export type { components as MailSchemas, paths as MailPaths } from './generated/mail.types.js';
