import { createServer, type ServerResponse } from 'node:http';
import { createCrawlClient, createMailClient } from '../src/index.js';
import { answer, context, getUrl, type Handler, paused, startFakeService, toFault } from './fake-service.js';

const service = await startFakeService();
const client = createCrawlClient({ baseUrl: service.url, timeoutMs: 20_000 });
const impatient = createCrawlClient({ baseUrl: service.url, timeoutMs: 300 });
afterAll(async () => {
  await Promise.all([client.close(), impatient.close()]);
  await service.close();
});

const pause = (options: object = {}) =>
  client.call('pause', { path: { connector: 'wiki_1' } }, { ...context, ...options });

// oxfmt-ignore
test('sends the method, path and body, the credential, the request id and the trace context', async () => {
  const seen: unknown[] = [];
  service.onRequest((request, response, body) => {
    const { authorization, traceparent, tracestate } = request.headers;
    seen.push([request.method, request.url, authorization, request.headers['x-request-id'], traceparent, tracestate, body]);
    answer(response, 201, {
      success: true,
      message: 'Job scheduled',
      data: { jobId: 'q:1', connector: 'wiki_1', scheduleConfig: { scheduleType: 'hourly', minute: 5, interval: 1, isEnabled: true, timezone: 'UTC', jitterMs: 0, missedRunPolicy: 'run_once' }, scheduledAt: '2026-11-21T10:00:00Z' },
    });
  });
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };
  const { data } = await client.call(
    'schedule',
    { path: { connector: 'wiki 1/x' }, body: { scheduleConfig: { scheduleType: 'hourly', minute: 5 } } },
    { ...context, ...trace },
  );
  expect(data.jobId).toBe('q:1');
  expect(seen).toEqual([
    ['POST', '/api/v1/crawlingManager/wiki%201%2Fx/schedule', 'Bearer a.b.c', 'request-1', trace.traceparent, 'a=b', '{"scheduleConfig":{"scheduleType":"hourly","minute":5}}'],
  ]);
});

test('sends the given query parameters, and keeps connections alive', async () => {
  let url: string | undefined;
  service.onRequest((request, response) => {
    url = request.url;
    answer(response, 200, { success: true, message: '', data: [], nextCursor: null, hasMore: false });
  });
  await client.call('listEvents', { query: { limit: 5 } }, context);
  expect(url).toBe('/api/v1/crawlingManager/events?limit=5');
  const before = service.countConnections();
  for (let count = 0; count < 5; count += 1) await client.call('listEvents', {}, context);
  expect(url).toBe('/api/v1/crawlingManager/events');
  expect(service.countConnections()).toBe(before);
});

test.each(['', '.', '..'])('refuses the path parameter %p and sends nothing', async (connector) => {
  service.onRequest(() => {
    throw new Error('sent');
  });
  expect(await toFault(client.call('pause', { path: { connector } }, context))).toMatchObject({
    kind: 'refused',
    details: [{ field: 'connector', message: "can't be part of a path" }],
  });
});

// oxfmt-ignore
test('allows an organisation a quarter of the calls, and fails further ones at once', async () => {
  const held: ServerResponse[] = [];
  service.onRequest((_request, response) => held.push(response));
  const crowded = createCrawlClient({ baseUrl: service.url, timeoutMs: 20_000, connections: 8 });
  const toCall = (orgId: string) =>
    crowded.call('pause', { path: { connector: 'wiki_1' } }, { ...context, orgId });
  const busy = { kind: 'busy', message: 'The crawl service is busy with other calls; nothing was done. Try again later.' };
  const under = ['a', 'a', 'b', 'b', 'c', 'c'].map(toCall);
  expect(await toFault(toCall('a'))).toMatchObject(busy);
  under.push(toCall('d'), toCall('d'));
  expect(await toFault(toCall('e'))).toMatchObject(busy);
  while (held.length < under.length) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const response of held) answer(response, 200, paused);
  await Promise.all(under);
  service.onRequest((_request, response) => answer(response, 200, paused));
  await Promise.all([toCall('a'), toCall('a')]);
  await crowded.close();
});

test.each<[string, Handler]>([
  ['does not answer', () => undefined],
  ['begins an answer and stops', (_request, response) => response.writeHead(200).write('{')],
  ['hangs up', (request) => request.socket.destroy()],
])('fails with timeout when the service %s', async (_what, silence) => {
  service.onRequest(silence);
  const asked = impatient.call('pause', { path: { connector: 'wiki_1' } }, context);
  expect(await toFault(asked)).toMatchObject({
    kind: 'timeout',
    message: 'The crawl service gave no answer in time; whether it did what it was asked is unknown.',
  });
});

test('ends a call at once when the caller aborts it', async () => {
  const controller = new AbortController();
  service.onRequest(() => controller.abort());
  expect(await toFault(pause({ signal: controller.signal }))).toMatchObject({ kind: 'aborted' });
});

test('fails with unreachable when the service is not running', async () => {
  const gone = createServer();
  await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
  const mail = createMailClient({ baseUrl: getUrl(gone), timeoutMs: 2_000 });
  await new Promise((closed) => gone.close(closed));
  const fault = await toFault(mail.call('listMailRecords', {}, context));
  expect(fault).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('nothing was done') });
  await mail.close();
});
