import { type CrawlClient, crawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import {
  toOutputSchema,
  toInstanceInputSchemas,
  type InstanceArguments,
  toInstancePath,
} from '../rest-schemas.js';
import type { Tool } from '../tool.js';

export const resumeCrawl = (crawl: CrawlClient): Tool<InstanceArguments> => ({
  name: 'resume_crawl',
  title: 'Resume a crawl',
  description:
    'Resumes the paused schedule of a connector, from its next time on. Use it to undo pause_crawl. Returns the connector and when it was resumed (ISO 8601 UTC). An error says when it is not paused.',
  ...toInstanceInputSchemas(crawlOperations.resumeOfInstance),
  outputSchema: toOutputSchema(crawlOperations.resumeOfInstance, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  call: async (given, context) =>
    (await crawl.call('resumeOfInstance', { path: toInstancePath(given) }, toCallContext(context))).data,
});
