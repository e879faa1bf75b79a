import { type CrawlClient, crawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import {
  toOutputSchema,
  toInstanceInputSchemas,
  type InstanceArguments,
  toInstancePath,
} from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Arguments = InstanceArguments & { readonly until?: string };

export const pauseCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'pause_crawl',
  title: 'Pause a crawl',
  description:
    'Pauses the schedule of a connector until resume_crawl, or until the time `until` (ISO 8601 with its offset, in the future), at which it resumes by itself; a run in progress is aborted. Use it to stop crawling for a while without losing the configuration. Returns the connector, and when it was paused and until when (ISO 8601 UTC). An error says when it is not scheduled or paused already.',
  ...toInstanceInputSchemas(crawlOperations.pauseOfInstance),
  outputSchema: toOutputSchema(crawlOperations.pauseOfInstance, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  async call({ until, ...given }, context) {
    const input = { path: toInstancePath(given), ...(until !== undefined && { body: { until } }) };
    return (await crawl.call('pauseOfInstance', input, toCallContext(context))).data;
  },
});
