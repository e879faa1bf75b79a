import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Connector } from '@platform/events';
import { waitFor } from '@platform/testing';
import { isPending } from '../support/queue-view.js';
import { createCrawls } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Organisation, type Platform, startPlatform } from '../support/platform.js';

const everyMinute = { scheduleType: 'custom', cronExpression: '* * * * *' };
const MINUTE_MS = 60_000;
/** The tests create their schedules this long before a minute begins. */
const LEAD_MS = 4_000;

describeEachBackend('stopping scheduled runs on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  let aheadMs = 0;
  const held = new Map<string, ServerResponse>();
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    endpoint.answer = ({ method, body }, response) => {
      if (method !== 'POST') json(response, 204);
      else if (failing.has(body.connector)) json(response, 500);
      else held.set(`${body.orgId} ${body.connector}`, response);
    };
    platform = await startPlatform({
      backend,
      // A retry is delayed for longer than the test takes.
      env: { TASKS: `*=${endpoint.url}`, RETRY_DELAY_MS: '600000', CLOCK_AHEAD_MS: '0' },
    });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });

  /** The endpoint responds with 500 for these connectors, so that their runs wait for a retry, and holds other requests. */
  const failing = new Set<Connector>(['files_2', 'mail_2', 'db_1']);

  /** Sets the clock to LEAD_MS before the minute after next. */
  async function goToEndOfMinute(): Promise<void> {
    const now = Date.now() + aheadMs;
    aheadMs += MINUTE_MS - (now % MINUTE_MS) + MINUTE_MS - LEAD_MS;
    await platform.crawl.setClock(aheadMs);
  }

  async function startTicks(given: readonly { by: Organisation; connectors: readonly Connector[] }[]) {
    await goToEndOfMinute();
    for (const { by, connectors } of given)
      for (const connector of connectors)
        await platform.call('POST', `/${connector}/schedule`, {
          token: by.token,
          body: { scheduleConfig: everyMinute },
        });
    const all = given.flatMap(({ by, connectors }) =>
      connectors.map((connector) => ({ orgId: by.orgId, connector })),
    );
    await waitFor(
      async () => {
        const { rows } = await platform.db.query<{ orgId: string; connector: Connector; state: string }>(
          `select org_id as "orgId", connector, state from runs where state in ('active', 'retrying')`,
        );
        return all.every((wanted) =>
          rows.some(
            ({ orgId, connector, state }) =>
              orgId === wanted.orgId &&
              connector === wanted.connector &&
              (failing.has(connector) ? state === 'retrying' : held.has(`${orgId} ${connector}`)),
          ),
        );
      },
      { what: 'runs of ticks' },
    );
  }

  it('pausing a schedule, removing it and removing all schedules abort runs that are active or wait for a retry', async () => {
    const other = await platform.createOrganisation();
    const { admin } = platform;
    await startTicks([
      { by: admin, connectors: ['files_1', 'files_2', 'mail_1', 'mail_2'] },
      { by: other, connectors: ['wiki_1', 'db_1'] },
    ]);
    const answers = [
      await platform.call('POST', '/files_1/pause'),
      await platform.call('POST', '/files_2/pause'),
      await platform.call('DELETE', '/mail_1/schedule'),
      await platform.call('DELETE', '/mail_2/schedule'),
      await platform.call('DELETE', '/schedule/all', { token: other.token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    // A tick of the next minute is skipped while the run of the one before is active.
    const { rows } = await platform.db.query("select distinct state from runs where state <> 'skipped'");
    expect(rows).toEqual([{ state: 'aborted' }]);
    // The requests to the endpoint are aborted.
    await waitFor(() => [...held.values()].every(({ destroyed, closed }) => destroyed || closed), {
      what: 'the end of every request',
    });
    await crawls.expectWhole();
    // prettier-ignore
    expect((await platform.call('GET', '/stats')).body.data).toMatchObject({
      waiting: 0, active: 0, delayed: 0, paused: 2, repeatable: 0, total: 2,
    });
  });

  it('a stopped schedule does not run, and a resumed schedule runs once at its next tick', async () => {
    endpoint.asked.length = 0;
    await goToEndOfMinute();
    expect((await platform.call('POST', '/files_1/resume')).status).toBe(200);
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    // The job of its aborted run, finished or waiting for a retry, does not block the next one.
    expect((await platform.call('POST', '/files_2/resume')).status).toBe(200);
    await crawls.outcome('files_1', 'completed');
    await crawls.outcome('files_2', 'completed');
    expect(endpoint.asked.map(({ body }) => body.connector as string).toSorted()).toEqual([
      'files_1',
      'files_2',
    ]);
    await crawls.expectWhole();
  });

  it('a job that had nothing to do is not kept in the history of the queue', async () => {
    const runId = randomUUID();
    const data = { orgId: platform.admin.orgId, connector: 'wiki_1', runId, claimCount: 0 } as const;
    const opts = { jobId: `run-${runId}-0`, removeOnComplete: { count: 10 } };
    await platform.queues.fill('wiki_1', [{ data, opts }]);
    const getState = () => platform.queues.jobState('wiki_1', opts.jobId);
    await waitFor(async () => !isPending(await getState()), { what: 'the end of the job' });
    expect(await getState()).toBe('unknown');
  });
});
