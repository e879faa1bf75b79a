import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { json } from '../support/endpoint.js';
import { useEndpointRuns } from '../support/endpoint-runs.js';
import type { Organisation } from '../support/platform.js';

/** The number of runs of a queue that may be active at once. */
const LIMIT = 2;

describe('the queue of many organisations', () => {
  // No lease expires, after which an order would be sent again.
  const env = { QUEUE_CONCURRENCY: String(LIMIT), STALLED_INTERVAL_MS: '30000' };
  const runs = useEndpointRuns('postgres', { env });
  let organisations: Organisation[];
  const workers = new Map<Organisation, object>();
  beforeAll(async () => {
    organisations = [runs.platform.admin];
    while (organisations.length < LIMIT + 2) organisations.push(await runs.platform.createOrganisation());
    for (const organisation of organisations) workers.set(organisation, await runs.register(organisation));
  });
  beforeEach(() => runs.endpoint.hold());
  afterEach(async () => {
    for (const { token } of organisations) await runs.platform.call('DELETE', '/schedule/all', { token });
  });

  const schedule = (organisation: Organisation, more: object = {}, path = '/files_1') =>
    runs.platform.call('POST', `${path}/schedule`, {
      token: organisation.token,
      body: { scheduleConfig: daily, ...workers.get(organisation), ...more },
    });
  const run = async ({ token }: Organisation) =>
    (await runs.platform.call('POST', '/files_1/run', { token })).status;
  const waitForOrders = (count: number) =>
    waitFor(() => runs.endpoint.asked.length === count, { what: `${count} orders` });
  const getOrders = () => runs.endpoint.asked.map(({ body }) => body.orgId as string);

  it('has one run of an organisation and connector at a time, however many are requested', async () => {
    const [loud, quiet] = organisations as [Organisation, Organisation];
    for (const organisation of [loud, quiet]) await schedule(organisation);
    const statuses = await Promise.all(Array.from({ length: 10 }, () => run(loud)));
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.filter((status) => [202, 409, 503].includes(status))).toHaveLength(10);
    expect(await run(quiet)).toBe(202);
    await waitForOrders(2);
    expect(getOrders()).toEqual([loud.orgId, quiet.orgId]);
  });

  it('has one run of all instances of a connector at a time, and the others follow without a pause', async () => {
    const [loud, quiet] = organisations as [Organisation, Organisation];
    const paths = Array.from({ length: LIMIT + 1 }, (_, index) => `/files_1/instances/files-${index}`);
    const call = (method: string, path: string, body?: object) =>
      runs.platform.call(method, path, { token: loud.token, body });
    for (const path of paths) {
      await call('PUT', path, { displayName: path });
      await schedule(loud, {}, path);
      expect((await call('POST', `${path}/run`)).status).toBe(202);
    }
    await schedule(quiet);
    await waitForOrders(1);
    expect(await run(quiet)).toBe(202);
    await waitForOrders(2);
    expect(getOrders()).toEqual([loud.orgId, quiet.orgId]);
    runs.endpoint.reply(200);
    runs.endpoint.release();
    await waitForOrders(LIMIT + 2);
    for (const path of paths) await call('DELETE', path);
  });

  it('starts as many runs as its limit over all replicas, earliest due first, whatever the priorities (CRAWL-24, CRAWL-32)', async () => {
    const second = await runs.platform.addCrawl();
    const [patient, eager] = organisations.slice(LIMIT) as [Organisation, Organisation];
    for (const organisation of organisations)
      await schedule(organisation, { priority: organisation === patient ? 10 : 1 });
    for (const organisation of organisations.slice(0, LIMIT)) expect(await run(organisation)).toBe(202);
    await waitForOrders(LIMIT);
    for (const organisation of [patient, eager]) expect(await run(organisation)).toBe(202);
    json(runs.endpoint.held[0] as ServerResponse, 200);
    await waitForOrders(LIMIT + 1);
    expect(runs.endpoint.asked.at(-1)?.body).toMatchObject({ orgId: patient.orgId, priority: 10 });
    runs.endpoint.reply(200);
    runs.endpoint.release();
    await waitForOrders(LIMIT + 2);
    await second.stop();
  });
});
