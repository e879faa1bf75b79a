import { type CrawlClient, crawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import {
  toOutputSchema,
  toInstanceInputSchemas,
  pick,
  type InstanceArguments,
  toInstancePath,
} from '../rest-schemas.js';
import type { Tool } from '../tool.js';

export const removeCrawl = (crawl: CrawlClient): Tool<InstanceArguments> => ({
  name: 'remove_crawl',
  title: 'Remove a crawl',
  description:
    'Removes the schedule of a connector for good; a run in progress is aborted. Use pause_crawl instead to keep the configuration. Succeeds when there is no schedule, too. Returns a confirmation.',
  ...toInstanceInputSchemas(crawlOperations.removeScheduleOfInstance),
  outputSchema: pick(toOutputSchema(crawlOperations.removeScheduleOfInstance), ['message']),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:delete'],
  isAdminOnly: true,
  async call(given, context) {
    const { message } = await crawl.call(
      'removeScheduleOfInstance',
      { path: toInstancePath(given) },
      toCallContext(context),
    );
    return { message };
  },
});
