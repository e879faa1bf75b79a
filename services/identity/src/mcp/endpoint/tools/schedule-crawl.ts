import { hasScope } from '@platform/auth';
import {
  type CallInput,
  type CrawlClient,
  crawlOperations,
  type CrawlOperations,
  ServiceFault,
} from '@platform/clients';
import { AppError } from '@platform/service-kit';
import { toCallContext } from '../call-context.js';
import {
  type InstanceArguments,
  toInstanceInputSchemas,
  toInstancePath,
  toOutputSchema,
} from '../rest-schemas.js';
import type { Tool, ToolContext, ToolSchema } from '../tool.js';
import { waitEndReasons, waitForRun } from '../wait-for-run.js';
import type { Waits } from '../waits.js';

type Arguments = InstanceArguments &
  CallInput<CrawlOperations['scheduleOfInstance']>['body'] & { readonly wait?: boolean };

const wait = {
  type: 'boolean',
  default: false,
  description: 'Wait until the next run has ended; needs crawl:read too.',
};
const withWait = (schema: ToolSchema): ToolSchema => ({
  ...schema,
  properties: { ...schema.properties, wait },
});
const { inputSchema, checkedSchema } = toInstanceInputSchemas(crawlOperations.scheduleOfInstance);

const scheduled = toOutputSchema(crawlOperations.scheduleOfInstance, ['data']);
const outputSchema: ToolSchema = {
  ...scheduled,
  properties: {
    ...scheduled.properties,
    run: { anyOf: [toOutputSchema(crawlOperations.listRunsOfInstance, ['data', '[]']), { type: 'null' }] },
    waitEnded: { enum: [...waitEndReasons] },
  },
};

/** Checks the scope for waiting before anything is scheduled. */
function assertCanWait({ principal }: ToolContext): void {
  if (hasScope(principal, 'crawl:read')) return;
  const message = 'This credential cannot wait for a run. It lacks the scopes: crawl:read.';
  throw new AppError({ status: 403, code: 'INSUFFICIENT_SCOPE', message });
}

/** Waits for the run. A fault's message then says that the crawl is scheduled, so that it isn't scheduled again. */
async function followRun(...args: Parameters<typeof waitForRun>): ReturnType<typeof waitForRun> {
  try {
    return await waitForRun(...args);
  } catch (fault) {
    if (fault instanceof ServiceFault)
      fault.message = `The crawl is scheduled, but its run can't be followed: ${fault.message}`;
    throw fault;
  }
}

export const scheduleCrawl = (crawl: CrawlClient, waits: Waits): Tool<Arguments> => ({
  name: 'schedule_crawl',
  title: 'Schedule a crawl',
  description:
    'Schedules when a connector is crawled (`instance` names one of several), or replaces its schedule (a run in progress goes on). `scheduleConfig.scheduleType` chooses the form: hourly, daily, weekly (daysOfWeek, 0 is Sunday), monthly, custom (a cron expression of five fields), or once (scheduledTime, ISO 8601 with its offset, in the future). Times are in `timezone` (IANA, default UTC). `timeout` is that of one attempt in milliseconds, `maxRetries` counts after the first attempt, `priority` is passed to what crawls, and lets no run pass another. With `worker` event (the default), a run only publishes its event, and a completed run has crawled nothing itself. Use once with a time a few seconds ahead to crawl now, and `wait` to be answered when the next run has ended, or use get_crawl to see it complete. Returns the job id, the schedule with its defaults, and when it was scheduled (ISO 8601 UTC); with `wait` also `run`: its `outcome` is completed, failed, aborted or skipped (`reason` says why), or still waiting, active or retrying when the wait was over before the run, null when it had not begun by then; `waitEnded` says why: run_ended, too_long, or shutting_down (the server restarts). The schedule stays in any case: follow it with get_crawl.',
  inputSchema: withWait(inputSchema),
  checkedSchema: withWait(checkedSchema),
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['crawl:write'],
  isAdminOnly: true,
  async call({ connector, instance, wait: isAwaited, ...body }, context) {
    const path = toInstancePath({ connector, ...(instance !== undefined && { instance }) });
    const schedule = async () =>
      (await crawl.call('scheduleOfInstance', { path, body }, toCallContext(context))).data;
    if (!isAwaited) return schedule();
    assertCanWait(context);
    return waits.run(context.principal, async () => {
      const data = await schedule();
      return { ...data, ...(await followRun(crawl, { path, since: data.scheduledAt, waits }, context)) };
    });
  },
});
