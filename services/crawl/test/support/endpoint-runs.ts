import { type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import { createCrawls, daily } from './crawls.js';
import { type Asked, type Endpoint, startEndpoint } from './endpoint.js';
import { type Backend, type Platform, startPlatform } from './platform.js';

export const toKeys = (asked: readonly Asked[]) =>
  new Set(asked.map(({ headers }) => headers['idempotency-key']));

/**
 * Gives the tests of a `describe` a platform whose connectors have an endpoint that each test controls. It responds with
 * 200 at the start of each.
 */
export function useEndpointRuns(
  backend: Backend,
  options: {
    readonly env?: Record<string, string>;
    /** The connectors that have the endpoint. Default: files_1. */
    readonly connectors?: readonly string[];
    /** Whether the test stops PostgreSQL. */
    readonly hasOwnPostgres?: boolean;
  } = {},
) {
  const { env = {}, connectors = ['files_1'] } = options;
  let platform: Platform;
  let endpoint: Endpoint;
  let postgres: OwnPostgres | undefined;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    if (options.hasOwnPostgres) postgres = await startOwnPostgres();
    const TASKS = connectors.map((connector) => `${connector}=${endpoint.url}`).join();
    const server = postgres && { adminUrl: postgres.url() };
    platform = await startPlatform({ backend, env: { TASKS, ...env }, ...server });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.stop();
    await postgres?.close();
  });
  beforeEach(() => endpoint.reset());
  afterEach(async () => {
    endpoint.release();
    const remove = async () => (await platform.call('DELETE', '/schedule/all')).status === 200;
    await waitFor(remove, { what: 'the removal of all schedules' });
  });

  const crawls = createCrawls(() => platform);
  const schedule = (body: object = {}, connector = 'files_1') =>
    platform.call('POST', `/${connector}/schedule`, {
      body: { scheduleConfig: daily, maxRetries: 0, ...body },
    });
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
    crawls,
    schedule,
    /** Returns the status item of files_1. */
    item: async () => (await platform.call('GET', '/files_1/schedule')).body.data,
    getPosts: () => endpoint.asked.filter(({ method }) => method === 'POST'),
    getCancellations: () => endpoint.asked.filter(({ method }) => method === 'DELETE'),
    /** Starts a run of files_1 whose order the endpoint holds. Returns its id. */
    async startHeldRun(): Promise<string> {
      endpoint.hold();
      await schedule();
      const runId = await crawls.run('files_1');
      await waitFor(() => endpoint.held[0], { what: 'the order' });
      return runId;
    },
    countEvents: async (runId: string) =>
      (await platform.db.query('select from outbox.events where cause = $1', [runId])).rowCount,
  };
}
