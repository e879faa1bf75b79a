import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

type Arguments = CallInput<CrawlOperations['getSchedule']>['path'];

export const getCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'get_crawl',
  title: 'Get a crawl',
  description:
    "Tells all about the schedule of one connector: its configuration, and the run in progress or the next one. `state` is waiting, active, completed, failed, delayed (until nextRunAt) or paused; `progress` is in percent; timestamp, processedOn and finishedOn are milliseconds since the epoch, delay and timeout milliseconds, nextRunAt, pausedAt and pausedUntil ISO 8601 UTC. `standstill` says why it is not being crawled now (null while it is), and `isWorkerSet` is false when nobody in the platform crawls: a run then only publishes its event, whatever its state says. Use it to follow a crawl: call it again every few seconds until a one-off crawl is completed or failed (`failedReason` says why). An error says when the connector isn't scheduled. Changes nothing.",
  ...toInputSchemas(crawlOperations.getSchedule),
  outputSchema: toOutputSchema(crawlOperations.getSchedule, ['data']),
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async ({ connector }, context) =>
    (await crawl.call('getSchedule', { path: { connector } }, toCallContext(context))).data,
});
