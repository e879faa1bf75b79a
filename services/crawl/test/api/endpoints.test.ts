import { createHmac } from 'node:crypto';
import { createSecretBox, DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { type Asked, type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { type Organisation, type Platform, startPlatform } from '../support/platform.js';

const box = createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

const none = '01900000-0000-7000-8000-000000000000';

/* Endpoints that an organisation registers: its secrets, what may be called, and both ways to report. */

describe('endpoints of an organisation', () => {
  let platform: Platform;
  let endpoint: Endpoint;
  let other: Organisation;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({
      backend: 'postgres',
      env: {
        ENDPOINT_ALLOWED_TARGETS: new URL(endpoint.url).host,
      },
    });
    other = await platform.createOrganisation();
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.stop();
  });
  beforeEach(() => endpoint.reset());
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const register = async (body: object = { url: endpoint.url, description: 'The wiki' }) =>
    (await platform.call('POST', '/endpoints', { body })).body.data;
  const schedule = (endpointId: string, token = platform.admin.token) =>
    platform.call('POST', '/files_1/schedule', {
      token,
      body: { scheduleConfig: daily, worker: 'endpoint', endpointId, maxRetries: 0 },
    });
  const run = async (): Promise<string> => (await platform.call('POST', '/files_1/run')).body.data.runId;
  const waitForRun = (runId: string, outcome: string) =>
    waitFor(
      async () => {
        const { data } = (await platform.call('GET', `/files_1/runs/${runId}`)).body;
        return data.outcome === outcome && data;
      },
      { what: outcome },
    );
  const sign = (secret: string, { headers, text, method, path }: Asked) =>
    `v1,${createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
      .update([headers['webhook-id'], headers['webhook-timestamp'], text || `${method} ${path}`].join('.'))
      .digest('base64')}`;

  it('crawl for its schedules alone, and cannot be removed while one uses them', async () => {
    const { secret, endpointId, ...item } = await register();
    expect(item).toMatchObject({ url: endpoint.url, description: 'The wiki', connectors: [] });
    const { rows } = await platform.db.query<{ row: string }>('select endpoints::text as row from endpoints');
    expect(rows.map(({ row }) => row).join()).not.toContain(secret.replace('whsec_', ''));
    expect((await schedule(endpointId)).status).toBe(201);
    const listed = (await platform.call('GET', '/endpoints')).body.data;
    expect(listed).toContainEqual({ endpointId, ...item, connectors: ['files_1'] });
    expect((await platform.call('GET', '/endpoints', { token: other.token })).body.data).toEqual([]);
    const runId = await run();
    expect(await waitForRun(runId, 'completed')).toMatchObject({
      worker: 'endpoint',
      endpoint: { id: endpointId, name: 'The wiki' },
    });
    for (const [q, expected] of [
      ['the WIKI', [runId]],
      [new URL(endpoint.url).host, [runId]],
      ['the%', []],
    ]) {
      const { data } = (
        await platform.call('GET', `/files_1/runs?${new URLSearchParams({ q: String(q) }).toString()}`)
      ).body;
      expect([q, data.map((found: { runId: string }) => found.runId)]).toEqual([q, expected]);
    }
    const [order] = endpoint.asked;
    expect(order?.body).toMatchObject({ runId, attempt: 1, connector: 'files_1' });
    expect(order?.headers).toMatchObject({
      'webhook-signature': sign(secret, order as Asked),
      'x-run-lease': expect.stringMatching(/^[\w-]{32}$/),
    });

    const refused = await platform.call('DELETE', `/endpoints/${endpointId}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'ENDPOINT_IN_USE']);
    const foreign = { token: other.token };
    expect((await platform.call('DELETE', `/endpoints/${endpointId}`, foreign)).status).toBe(404);
    for (const [id, token] of [
      [endpointId, other.token],
      [none, platform.admin.token],
    ]) {
      const answer = await schedule(id as string, token);
      expect([answer.status, answer.body.error.details]).toEqual([
        400,
        'endpointId: is not an endpoint of the organisation',
      ]);
    }
    await platform.call('DELETE', '/files_1/schedule');
    expect((await platform.call('DELETE', `/endpoints/${endpointId}`)).status).toBe(200);
    expect((await waitForRun(runId, 'completed')).endpoint).toBeNull();
    expect(platform.crawl.logged()).not.toContain(secret);
  });

  it('may report through the API with the lease of the order, instead of being polled', async () => {
    endpoint.reply(202);
    await schedule((await register()).endpointId);
    const runId = await run();
    const order = await waitFor(() => endpoint.asked[0], { what: 'the order' });
    const lease = order.headers['x-run-lease'] as string;
    const report = (path: string, body: object) => platform.call('POST', `/work/${runId}/${path}`, { body });
    expect((await report('heartbeat', { lease, progress: 50, log: ['half'] })).body.cancelled).toBe(false);
    expect((await report('finish', { lease, state: 'continue', checkpoint: { page: 1 } })).status).toBe(400);
    for (const answer of [
      await report('heartbeat', { lease, checkpoint: 1 }),
      await report('finish', { lease, state: 'completed', checkpoint: 1 }),
    ])
      expect([answer.status, answer.body.error.details]).toEqual([
        400,
        'checkpoint: must be left out: an endpoint has no slices',
      ]);
    for (const guess of ['1', '2', `${lease}x`])
      expect((await report('finish', { lease: guess, state: 'completed' })).status).toBe(409);
    const counters = { items: 3, deleted: 0, failed: 0, bytes: 7 };
    expect((await report('finish', { lease, state: 'completed', counters })).body).toEqual({
      state: 'completed',
    });
    expect(await waitForRun(runId, 'completed')).toMatchObject({ ...counters, log: [{ message: 'half' }] });
    expect(endpoint.asked).toHaveLength(1);

    const failing = await run();
    const next = await waitFor(() => endpoint.asked[1], { what: 'the next order' });
    await platform.call('POST', `/work/${failing}/finish`, {
      body: { lease: next.headers['x-run-lease'], state: 'failed', reason: 'no' },
    });
    expect(await waitForRun(failing, 'failed')).toMatchObject({ reason: 'no' });
  });

  /** Lets a day pass for the secrets that were replaced. */
  async function ageSecrets(endpointId: string): Promise<void> {
    const { rows } = await platform.db.query<{ sealed: string }>(
      'select secrets_sealed as sealed from endpoints where id = $1',
      [endpointId],
    );
    const secrets = box.open(rows[0]?.sealed ?? '', `endpoint:${endpointId}`);
    const aged = secrets.replaceAll(/(?<="until":)\d+/g, (until) => String(Number(until) - DAY_MS));
    const sealed = box.seal(aged, `endpoint:${endpointId}`);
    await platform.db.query('update endpoints set secrets_sealed = $1 where id = $2', [sealed, endpointId]);
  }

  it('sign with each secret for a day after it was replaced', async () => {
    const { secret, endpointId } = await register();
    const rotate = () => platform.call('POST', `/endpoints/${endpointId}/rotate`);
    const rotated = (await rotate()).body.data;
    const newest = (await rotate()).body.data;
    expect(rotated.secret).not.toBe(secret);
    const test = () => platform.call('POST', `/endpoints/${endpointId}/test`);
    endpoint.reply(404);
    expect((await test()).body.data).toEqual({ isOk: true, status: 404, message: 'It answered 404' });
    const [asked] = endpoint.asked as [Asked];
    expect(asked.method).toBe('GET');
    expect(asked.headers['webhook-signature']).toBe(
      [newest, rotated, { secret }].map((one) => sign(one.secret, asked)).join(' '),
    );
    await ageSecrets(endpointId);
    endpoint.reply(401);
    expect((await test()).body.data).toMatchObject({ isOk: false, status: 401 });
    for (const [status, message] of [
      [302, 'It answered 302: redirects are not followed'],
      [429, 'It answered 429: it limits requests, so test it again later'],
      [503, 'It answered 503: it has failed'],
    ] as const) {
      endpoint.reply(status);
      expect((await test()).body.data).toEqual({ isOk: false, status, message });
    }
    const later = endpoint.asked[1] as Asked;
    expect(later.headers['webhook-signature']).toBe(sign(newest.secret, later));
    const statuses: number[] = [];
    for (let times = 0; times < 21; times += 1) statuses.push((await rotate()).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 409]);
  });

  it('have five tests in progress at a time', async () => {
    const { endpointId } = await register();
    endpoint.hold();
    const test = () => platform.call('POST', `/endpoints/${endpointId}/test`);
    const tests = Array.from({ length: 5 }, test);
    await waitFor(() => endpoint.held.length === 5, { what: 'the tests' });
    expect((await test()).status).toBe(429);
    endpoint.release();
    expect((await Promise.all(tests)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('get the requests about an order with the secret that they have by then, also its cancellation', async () => {
    endpoint.answer = ({ method }, response) => {
      const location = new URL('/tasks/1', endpoint.url).href;
      if (method === 'POST') json(response, 202, undefined, { location, 'retry-after': '0.1' });
      else json(response, 200, { state: 'running' });
    };
    const { endpointId } = await register();
    await schedule(endpointId);
    const runId = await run();
    await waitFor(() => endpoint.asked.length > 1, { what: 'a question for the progress' });
    const { secret } = (await platform.call('POST', `/endpoints/${endpointId}/rotate`)).body.data;
    const findSigned = (wanted: string) =>
      waitFor(
        () =>
          endpoint.asked.find(
            (asked) =>
              asked.method === wanted &&
              String(asked.headers['webhook-signature']).split(' ').includes(sign(secret, asked)),
          ),
        { what: `a ${wanted} with the new secret` },
      );
    expect((await findSigned('GET')).path).toBe('/tasks/1');
    await platform.call('POST', `/files_1/runs/${runId}/cancel`);
    expect((await findSigned('DELETE')).path).toBe('/tasks/1');
  });

  it('are called at the addresses alone that the operator allows', async () => {
    for (const url of [
      'ftp://a.example/',
      'https://10.0.0.1/',
      'http://127.0.0.1:9/',
      'https://a.example:0/',
      'https://u:p@a.example/',
      'x',
    ]) {
      const answer = await platform.call('POST', '/endpoints', { body: { url } });
      expect([answer.status, answer.body.error.details]).toEqual([400, expect.stringMatching(/^url: /)]);
    }
    // The name is judged when it is resolved.
    const { endpointId } = await register({ url: 'https://localhost:9/crawl' });
    const { body } = await platform.call('POST', `/endpoints/${endpointId}/test`);
    const message = 'The endpoint could not be reached: its host has no address that may be called';
    expect(body.data).toEqual({ isOk: false, status: null, message });
    await schedule(endpointId);
    await run();
    const isWaiting = async () => {
      const { data } = (await platform.call('GET', '/files_1/schedule')).body;
      return data.failedReason === `Waiting for the endpoint: ${message}`;
    };
    await waitFor(isWaiting, { what: 'the reason of the wait' });
  });
});
