import type { ServerResponse } from 'node:http';
import { type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import { createCrawls, daily } from './crawls.js';
import { type Endpoint, json, startEndpoint } from './endpoint.js';
import { type Backend, type Platform, startPlatform } from './platform.js';

/**
 * Gives the tests of a `describe` a platform whose connector files_1 has an endpoint that responds only when the test
 * says so. The other connectors run without an endpoint.
 */
export function useHeldRuns(backend: Backend, options: { readonly hasOwnPostgres?: boolean } = {}) {
  let platform: Platform;
  let endpoint: Endpoint;
  let postgres: OwnPostgres | undefined;
  let held: ServerResponse[] = [];
  beforeAll(async () => {
    endpoint = await startEndpoint();
    if (options.hasOwnPostgres) postgres = await startOwnPostgres();
    const env = { TASKS: `files_1=${endpoint.url}` };
    platform = await startPlatform({ backend, env, ...(postgres && { crawlAdminUrl: postgres.url() }) });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
    await postgres?.close();
  });
  beforeEach(() => {
    held = [];
    endpoint.asked.length = 0;
    endpoint.answer = (_asked, response) => void held.push(response);
  });
  afterEach(async () => {
    complete();
    await waitFor(async () => (await platform.call('DELETE', '/schedule/all')).status === 200, {
      what: 'removal',
    });
  });

  /** Responds to the requests that are held. */
  const complete = () => {
    for (const response of held.splice(0)) json(response, 200);
  };
  const waitForRequest = () => waitFor(() => held[0], { what: 'a request to the endpoint' });
  const schedule = (connector = 'files_1', scheduleConfig: object = daily) =>
    platform.call('POST', `/${connector}/schedule`, { body: { scheduleConfig } });
  const latest = async (connector = 'files_1') =>
    (await platform.call('GET', `/${connector}/runs`)).body.data[0];
  return {
    get platform() {
      return platform;
    },
    get endpoint() {
      return endpoint;
    },
    get postgres() {
      return postgres;
    },
    crawls: createCrawls(() => platform),
    complete,
    /** Responds to all requests from now on. */
    completeAll() {
      endpoint.answer = (_asked, response) => {
        json(response, 200);
      };
      complete();
    },
    waitForRequest,
    schedule,
    /** Returns the latest run of a connector. */
    latest,
    events: async (runId: string) =>
      (await platform.db.query('select event_id from outbox.events where cause = $1', [runId])).rows,
    /** Starts a run of files_1 and waits for its request to the endpoint. Returns the id of the run. */
    async startHeldRun(): Promise<string> {
      await schedule();
      const { body } = await platform.call('POST', '/files_1/run');
      await waitForRequest();
      return body.data.runId as string;
    },
    waitForCompletion: (runId: string) =>
      waitFor(
        async () => {
          const run = await latest();
          return run?.runId === runId && run.outcome === 'completed' && run;
        },
        { what: 'completion' },
      ),
  };
}
