import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Input = CallInput<CrawlOperations['pause']>;
type Arguments = Input['path'] & { readonly until?: string };

export const pauseCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'pause_crawl',
  title: 'Pause a crawl',
  description:
    'Pauses the schedule of a connector until resume_crawl, or until the time `until` (ISO 8601 with its offset, in the future), at which it resumes by itself; a run in progress is aborted. Use it to stop crawling for a while without losing the configuration. Returns the connector, and when it was paused and until when (ISO 8601 UTC). An error says when it is not scheduled or paused already.',
  ...toInputSchemas(crawlOperations.pause),
  outputSchema: toOutputSchema(crawlOperations.pause, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  async call({ connector, until }, context) {
    const input = { path: { connector }, ...(until !== undefined && { body: { until } }) };
    return (await crawl.call('pause', input, toCallContext(context))).data;
  },
});
