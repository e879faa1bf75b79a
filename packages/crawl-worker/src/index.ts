// Public API of @platform/crawl-worker: anything exported here is meant to be used by connectors.
export { RequestError } from '@platform/service-kit/platform-response';
export { type ClaimedRun, type Counters, type CrawlOrder, toOwnFullCrawl } from './protocol.js';
export { type Crawl, type CrawlRun, PermanentError, type SourceDescription } from './run.js';
export { serve, type ServeOptions } from './serve.js';
