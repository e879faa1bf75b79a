import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Organisation, type Platform, startPlatform } from '../support/platform.js';

describeEachBackend('many organisations on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({ backend, env: { TASKS: `files_1=${endpoint.url}` } });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });

  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  const run = ({ token }: Organisation) => platform.call('POST', '/files_1/run', { token });

  it('however many runs one organisation requests, another waits for at most one of them', async () => {
    const loud = platform.admin;
    const quiet = await platform.createOrganisation();
    for (const { token } of [loud, quiet])
      await platform.call('POST', '/files_1/schedule', { token, body: { scheduleConfig } });
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    const statuses = (await Promise.all(Array.from({ length: 100 }, () => run(loud)))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.filter((status) => status === 202 || status === 409 || status === 503)).toHaveLength(100);
    await run(quiet);
    await waitFor(() => endpoint.asked.length === 2, { what: 'both orders' });
    expect(endpoint.asked.map(({ body }) => body.orgId)).toEqual([loud.orgId, quiet.orgId]);
    held.forEach((response) => json(response, 200));
  });

  it('an organisation with many instances of a connector leaves its places to others', async () => {
    const [loud, quiet] = [await platform.createOrganisation(), await platform.createOrganisation()];
    const instances = Array.from({ length: 6 }, (_, index) => `files-${index}`);
    const toInstance = (instance: string, method: string, path: string, body?: object) =>
      platform.call(method, `/files_1/instances/${instance}${path}`, { token: loud.token, body });
    for (const instance of instances) {
      await toInstance(instance, 'PUT', '', { displayName: instance });
      await toInstance(instance, 'POST', '/schedule', { scheduleConfig });
    }
    await platform.call('POST', '/files_1/schedule', { token: quiet.token, body: { scheduleConfig } });
    endpoint.asked.length = 0;
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    for (const instance of instances) expect((await toInstance(instance, 'POST', '/run')).status).toBe(202);
    await waitFor(() => held[0], { what: 'the first order' });
    await run(quiet);
    await waitFor(() => held[1], { what: 'the order of the other organisation' });
    expect(endpoint.asked.map(({ body }) => body.orgId)).toEqual([loud.orgId, quiet.orgId]);
    // The others follow one another without a pause.
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    held.forEach((response) => json(response, 200));
    await waitFor(() => endpoint.asked.length === 7, { what: 'the orders of all instances' });
  });

  it('the run that was due first starts first whatever the priorities, which are sent to the endpoint', async () => {
    const organisations = await Promise.all(Array.from({ length: 7 }, () => platform.createOrganisation()));
    for (const [index, { token }] of organisations.entries())
      await platform.call('POST', '/files_1/schedule', {
        token,
        body: { scheduleConfig, priority: index === 5 ? 10 : 1 },
      });
    endpoint.asked.length = 0;
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    const [patient, eager] = organisations.splice(5) as [Organisation, Organisation];
    await Promise.all(organisations.map(run));
    await waitFor(() => held.length === 5, { what: 'a queue at its limit' });
    for (const organisation of [patient, eager]) expect((await run(organisation)).status).toBe(202);
    json(held[0] as ServerResponse, 200);
    await waitFor(() => held.length === 6, { what: 'the next order' });
    expect(endpoint.asked[5]?.body).toMatchObject({ orgId: patient.orgId, priority: 10 });
    held.forEach((response) => json(response, 200));
    await waitFor(() => held.length === 7, { what: 'the last order' });
    json(held[6] as ServerResponse, 200);
  });

  it('a queue processes five runs at a time over two replicas', async () => {
    const second = await platform.addCrawl();
    const organisations = await Promise.all(Array.from({ length: 8 }, () => platform.createOrganisation()));
    let now = 0;
    let most = 0;
    endpoint.asked.length = 0;
    endpoint.answer = (_asked, response) => {
      most = Math.max(most, (now += 1));
      setTimeout(() => {
        now -= 1;
        json(response, 200);
      }, 400);
    };
    for (const { token } of organisations)
      await platform.call('POST', '/files_1/schedule', { token, body: { scheduleConfig } });
    await Promise.all(organisations.map(run));
    await waitFor(() => endpoint.asked.length === 8 && now === 0, { what: 'eight runs' });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(5);
    await second.stop();
  });
});
