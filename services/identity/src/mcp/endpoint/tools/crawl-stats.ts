import { type CrawlClient, crawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

export const crawlStats = (crawl: CrawlClient): Tool => ({
  name: 'crawl_stats',
  title: 'Crawl statistics',
  description:
    "Counts the organisation's crawl jobs by state (waiting, active, delayed, paused), its recurring schedules (repeatable), and the runs that completed and failed so far. Use it for an overview, or to see whether crawls pile up or fail. Takes no arguments and changes nothing.",
  ...toInputSchemas(crawlOperations.getStatistics),
  outputSchema: toOutputSchema(crawlOperations.getStatistics, ['data']),
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (_args, context) => (await crawl.call('getStatistics', {}, toCallContext(context))).data,
});
