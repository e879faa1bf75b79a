import { type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import { createCrawls, daily } from './crawls.js';
import { type Asked, type Endpoint, registerEndpoint, startEndpoint } from './endpoint.js';
import { type Backend, type Organisation, type Platform, startPlatform } from './platform.js';

export const toKeys = (asked: readonly Asked[]) =>
  new Set(asked.map(({ headers }) => headers['idempotency-key']));

/**
 * Gives the tests of a `describe` a platform, and an endpoint that crawls files_1 and that each test controls. It responds
 * with 200 at the start of each.
 */
export function useEndpointRuns(
  backend: Backend,
  options: {
    readonly env?: Record<string, string>;
    /** Whether it crawls all connectors. */
    readonly isOfAll?: boolean;
    /** Whether the test stops PostgreSQL. */
    readonly hasOwnPostgres?: boolean;
  } = {},
) {
  const { env = {}, isOfAll = false } = options;
  let platform: Platform;
  let endpoint: Endpoint;
  let postgres: OwnPostgres | undefined;
  let worker: object;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    if (options.hasOwnPostgres) postgres = await startOwnPostgres();
    platform = await startPlatform({ backend, env, ...(postgres && { adminUrl: postgres.url() }) });
    ({ worker } = await registerEndpoint(platform, endpoint.url));
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

  const getWorker = (connector: string) => (isOfAll || connector === 'files_1' ? worker : {});
  const crawls = createCrawls(() => platform, getWorker);
  const schedule = (body: object = {}, connector = 'files_1') =>
    platform.call('POST', `/${connector}/schedule`, {
      body: { scheduleConfig: daily, maxRetries: 0, ...getWorker(connector), ...body },
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
    /** Lets the endpoint crawl for another organisation. Returns the fields of its schedules that say so. */
    register: async ({ token }: Organisation) =>
      (await registerEndpoint(platform, endpoint.url, token)).worker,
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
