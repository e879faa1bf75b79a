import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Arguments = CallInput<CrawlOperations['pause']>['path'];

export const pauseCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'pause_crawl',
  title: 'Pause a crawl',
  description:
    'Pauses the schedule of a connector until resume_crawl; a run in progress is aborted. Use it to stop crawling for a while without losing the configuration. Returns the connector and when it was paused (ISO 8601 UTC). An error says when it is not scheduled or paused already.',
  ...toInputSchemas(crawlOperations.pause),
  outputSchema: toOutputSchema(crawlOperations.pause, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  call: async ({ connector }, context) =>
    (await crawl.call('pause', { path: { connector } }, toCallContext(context))).data,
});
