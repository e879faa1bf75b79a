import { type CallInput, type CrawlClient, crawlOperations, type CrawlOperations } from '@platform/clients';
import { callContextOf } from '../call-context.js';
import { answerOf, argumentsOf } from '../rest-schemas.js';
import type { Tool } from '../tool.js';

type Input = CallInput<CrawlOperations['schedule']>;
type Arguments = Input['path'] & Input['body'];

export const scheduleCrawl = (crawl: CrawlClient): Tool<Arguments> => ({
  name: 'schedule_crawl',
  title: 'Schedule a crawl',
  description:
    'Schedules when a connector is crawled, or replaces its schedule (a run in progress goes on). `scheduleConfig.scheduleType` chooses the form: hourly, daily, weekly (daysOfWeek, 0 is Sunday), monthly, custom (a cron expression of five fields), or once (scheduledTime, ISO 8601 with its offset, in the future). Times are in `timezone` (IANA, default UTC). `timeout` is that of one attempt in milliseconds, `maxRetries` counts after the first attempt, `priority` 1 goes first. Use once with a time a few seconds ahead to crawl now, then get_crawl to see it complete. Returns the job id, the schedule with its defaults, and when it was scheduled (ISO 8601 UTC).',
  ...argumentsOf(crawlOperations.schedule),
  outputSchema: answerOf(crawlOperations.schedule, ['data']),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  call: async ({ connector, ...body }, context) =>
    (await crawl.call('schedule', { path: { connector }, body }, callContextOf(context))).data,
});
