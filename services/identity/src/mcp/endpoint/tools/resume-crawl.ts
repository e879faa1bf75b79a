import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas } from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Arguments = CallInput<CrawlOperations['resume']>['path'];

export const resumeCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'resume_crawl',
  title: 'Resume a crawl',
  description:
    'Resumes the paused schedule of a connector, from its next time on. Use it to undo pause_crawl. Returns the connector and when it was resumed (ISO 8601 UTC). An error says when it is not paused.',
  ...toInputSchemas(crawlOperations.resume),
  outputSchema: toOutputSchema(crawlOperations.resume, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  call: async ({ connector }, context) =>
    (await crawl.call('resume', { path: { connector } }, toCallContext(context))).data,
});
