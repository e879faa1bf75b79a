import { type CrawlClient, crawlOperations, type ObjectSchema } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toInputSchemas } from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

const operation = crawlOperations.listConnectors;

export const listConnectors = (crawl: CrawlClient): Tool => ({
  name: 'list_connectors',
  title: 'List connectors',
  description:
    'Lists every connector that can be crawled: its identifier (the `connector` of the crawl tools), what it connects to, and the event that a completed crawl publishes. Use it to find the identifier to schedule. It does not tell which are scheduled: list_crawls does. Takes no arguments and changes nothing.',
  ...toInputSchemas(operation),
  outputSchema: {
    type: 'object',
    required: ['connectors'],
    properties: { connectors: (operation.answers[0].schema as ObjectSchema).properties['data'] },
  },
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (_args, context) => ({
    connectors: (await crawl.call('listConnectors', {}, toCallContext(context))).data,
  }),
});
