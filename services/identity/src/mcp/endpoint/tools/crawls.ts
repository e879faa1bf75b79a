import type { Clock } from '@platform/service-kit';
import { type CrawlClient, crawlOperations, type ObjectSchema } from '@platform/clients';
import { AgeReport, toAgeReport, toUnknownAge } from '../../../facts/age-words.js';
import type { CrawlAge } from '../../../facts/crawl-ages.js';
import { toCallContext } from '../call-context.js';
import {
  type InstanceArguments,
  pick,
  toInputSchemas,
  toInstanceInputSchemas,
  toInstancePath,
  toOutputSchema,
  withProperty,
} from '../rest-schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

/* The tools that are one operation of crawl each. */

export const listConnectors = (crawl: CrawlClient): Tool => ({
  name: 'list_connectors',
  title: 'List connectors',
  description:
    'Lists every connector that can be crawled: its identifier (the `connector` of the crawl tools), what it connects to, and the event that a completed crawl publishes. Use it to find the identifier to schedule. It does not show which are scheduled: list_crawls does. Takes no arguments and changes nothing.',
  ...toInputSchemas(crawlOperations.listConnectors),
  outputSchema: {
    type: 'object',
    required: ['connectors'],
    properties: {
      connectors: (crawlOperations.listConnectors.answers[0].schema as ObjectSchema).properties['data'],
    },
  },
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (_args, context) => ({
    connectors: (await crawl.call('listConnectors', {}, toCallContext(context))).data,
  }),
});

/** Finds what the facts of crawl say of the age of connectors. */
export type FindAges = (orgId: string, connectors: readonly string[]) => Promise<readonly CrawlAge[]>;

interface CrawlStatus {
  readonly data: { readonly connector: string };
  readonly instance: string;
  readonly lastCompletedAt: string | null;
  readonly nextRunAt: string | null;
  readonly pausedAt: string | null;
  readonly consecutiveFailures: number;
}

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** Returns the age that crawl knows now: the facts, which alone know since when crawls fail, come a moment later. */
function toPresentAge(status: CrawlStatus, known: readonly CrawlAge[], now: number): CrawlAge {
  const { connector } = status.data;
  const { instance, consecutiveFailures, lastCompletedAt, nextRunAt, pausedAt } = status;
  const failingSince = known.find((age) => age.instance === instance)?.failingSince ?? new Date(now);
  return {
    ...toUnknownAge(connector, instance),
    completedAt: toDate(lastCompletedAt),
    nextRunAt: toDate(nextRunAt),
    pausedAt: toDate(pausedAt),
    failingSince: consecutiveFailures > 0 ? failingSince : null,
  };
}

export const getCrawl = (crawl: CrawlClient, findAges: FindAges, clock: Clock): Tool<InstanceArguments> => ({
  name: 'get_crawl',
  title: 'Get a crawl',
  description:
    "Describes the schedule of one connector in full: its configuration, and the run in progress or the next one. `state` is waiting, active, completed, failed, delayed (until nextRunAt) or paused; `progress` is in percent; timestamp, processedOn and finishedOn are milliseconds since the epoch, delay and timeout milliseconds, nextRunAt, pausedAt and pausedUntil ISO 8601 UTC. `standstill` says why it is not being crawled now (null while it is), and `worker` who crawls: with event nobody in the platform does: a run then only publishes its event, whatever its state says. Use it to follow a crawl: call it again every few seconds until a one-off crawl is completed or failed (`failedReason` says why). `age` says how old the knowledge is: its `state` is fresh, late, failing or paused, and `text` the same in words to pass on. An error says when the connector isn't scheduled. Changes nothing.",
  ...toInstanceInputSchemas(crawlOperations.getScheduleOfInstance),
  outputSchema: withProperty(
    toOutputSchema(crawlOperations.getScheduleOfInstance, ['data']),
    'age',
    AgeReport,
  ),
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  async call(given, context) {
    const { data } = await crawl.call(
      'getScheduleOfInstance',
      { path: toInstancePath(given) },
      toCallContext(context),
    );
    const known = await findAges(context.principal.orgId, [data.data.connector]);
    const now = clock();
    return { ...data, age: toAgeReport(toPresentAge(data, known, now), now) };
  },
});

type PauseArguments = InstanceArguments & { readonly until?: string };

export const pauseCrawl = (crawl: CrawlClient): Tool<PauseArguments> => ({
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

export const crawlStats = (crawl: CrawlClient): Tool => ({
  name: 'crawl_stats',
  title: 'Crawl statistics',
  description:
    "Counts the organisation's crawl jobs by state (waiting, active, delayed, paused), its recurring schedules (repeatable), and the runs that completed and failed so far. Use it for an overview, or to see whether crawls pile up or fail. Takes no arguments and changes nothing.",
  ...toInputSchemas(crawlOperations.getStatistics),
  outputSchema: toOutputSchema(crawlOperations.getStatistics, ['data']),
  annotations: READ_ONLY,
  scopes: ['crawl:read'],
  isAdminOnly: true,
  call: async (_args, context) => (await crawl.call('getStatistics', {}, toCallContext(context))).data,
});
