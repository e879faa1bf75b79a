import { type CrawlClient, crawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import {
  toOutputSchema,
  toInstanceInputSchemas,
  type InstanceArguments,
  toInstancePath,
} from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

export const getCrawl = (crawl: CrawlClient): Tool<InstanceArguments> => ({
  name: 'get_crawl',
  title: 'Get a crawl',
  description:
    "Tells all about the schedule of one connector: its configuration, and the run in progress or the next one. `state` is waiting, active, completed, failed, delayed (until nextRunAt) or paused; `progress` is in percent; timestamp, processedOn and finishedOn are milliseconds since the epoch, delay and timeout milliseconds, nextRunAt, pausedAt and pausedUntil ISO 8601 UTC. `standstill` says why it is not being crawled now (null while it is), and `isWorkerSet` is false when nobody in the platform crawls: a run then only publishes its event, whatever its state says. Use it to follow a crawl: call it again every few seconds until a one-off crawl is completed or failed (`failedReason` says why). An error says when the connector isn't scheduled. Changes nothing.",
  ...toInstanceInputSchemas(crawlOperations.getScheduleOfInstance),
  outputSchema: toOutputSchema(crawlOperations.getScheduleOfInstance, ['data']),
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (given, context) =>
    (await crawl.call('getScheduleOfInstance', { path: toInstancePath(given) }, toCallContext(context))).data,
});
