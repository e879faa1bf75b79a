import { type CallResult, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { toCallContext } from '../call-context.js';
import { toOutputSchema, toInputSchemas, pick } from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

const operation = crawlOperations.listSchedules;
type Item = CallResult<CrawlOperations['listSchedules']>['data'][number];

const summaryFields = [
  'instance',
  'displayName',
  'state',
  'progress',
  'nextRunAt',
  'pausedAt',
  'failedReason',
  'missedRuns',
] as const;
const summary = pick(toOutputSchema(operation, ['data', '[]']), summaryFields);

function summarise({ data, ...item }: Item) {
  const { connector, scheduleConfig } = data;
  const { scheduleType, timezone } = scheduleConfig;
  return {
    connector,
    scheduleType,
    timezone,
    instance: item.instance,
    displayName: item.displayName,
    state: item.state,
    progress: item.progress,
    nextRunAt: item.nextRunAt,
    pausedAt: item.pausedAt,
    failedReason: item.failedReason,
    missedRuns: item.missedRuns,
  };
}

const text = { type: 'string' };

export const listCrawls = (crawl: CrawlClient): Tool => ({
  name: 'list_crawls',
  title: 'List crawls',
  description:
    "Lists the organisation's crawl schedules by connector, one line each: type and time zone of the schedule, state (waiting, active, completed, failed, delayed or paused), progress in percent, the next run and since when it is paused (ISO 8601 UTC or null), why the last run failed, and how many runs were missed. Use it to see what is scheduled; get_crawl shows all about one. `instance` says which of the connectors of a type it is: pass it to the other tools, unless it is `default`. The list is short. Takes no arguments and changes nothing.",
  ...toInputSchemas(operation),
  outputSchema: {
    type: 'object',
    required: ['crawls'],
    properties: {
      crawls: {
        type: 'array',
        items: {
          ...summary,
          required: ['connector', 'scheduleType', 'timezone', ...summaryFields],
          properties: {
            connector: text,
            scheduleType: text,
            timezone: text,
            ...summary.properties,
          },
        },
      },
    },
  },
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (_args, context) => ({
    crawls: (await crawl.call('listSchedules', {}, toCallContext(context))).data.map(summarise),
  }),
});
