// Public API of @platform/crawl-worker: anything exported here is meant to be used by connectors.
export type { ClaimedRun, Counters, CrawlOrder } from './protocol.js';
export type { Crawl, CrawlRun } from './run.js';
export { serve, type ServeOptions } from './serve.js';
