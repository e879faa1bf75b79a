import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas, pick } from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Arguments = CallInput<CrawlOperations['removeSchedule']>['path'];

export const removeCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'remove_crawl',
  title: 'Remove a crawl',
  description:
    'Removes the schedule of a connector for good; a run in progress is aborted. Use pause_crawl instead to keep the configuration. Succeeds when there is no schedule, too. Returns a confirmation.',
  ...toInputSchemas(crawlOperations.removeSchedule),
  outputSchema: pick(toOutputSchema(crawlOperations.removeSchedule), ['message']),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:delete'],
  isAdminOnly: true,
  async call({ connector }, context) {
    const { message } = await crawl.call('removeSchedule', { path: { connector } }, toCallContext(context));
    return { message };
  },
});
