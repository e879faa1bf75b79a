import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CrawlClient, createCrawlClient, createMailClient, type ServiceFault } from '../src/index.js';

/*
 * The other side is a server that can fail in ways in which no service can be made to fail. Tests that run all services
 * show that they answer as the clients expect.
 */
type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server;
let handle: Handler;
let client: CrawlClient;
let impatient: CrawlClient;
const open = new Set<unknown>();
const context = { token: 'a.b.c', requestId: 'request-1', orgId: 'org' };

beforeAll(async () => {
  server = createServer((request, response) => {
    open.add(request.socket);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => handle(request, response, body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  client = createCrawlClient({ baseUrl: getUrl(server), timeoutMs: 20_000 });
  impatient = createCrawlClient({ baseUrl: getUrl(server), timeoutMs: 300 });
});
afterAll(async () => {
  await Promise.all([client.close(), impatient.close()]);
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const getUrl = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
const answer = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const paused = { connector: 'wiki_1', orgId: 'org', pausedAt: '2026-11-21T10:00:00.000Z' };
const success = { success: true, message: 'Job paused', data: paused };
const pause = (options: object = {}) =>
  client.call('pause', { path: { connector: 'wiki_1' } }, { ...context, ...options });
const toFault = async (call: Promise<unknown>): Promise<ServiceFault> =>
  call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: ServiceFault) => error,
  );

// prettier-ignore
test('sends the method, path and body, the credential, the request id and the trace context', async () => {
  const seen: unknown[] = [];
  handle = (request, response, body) => {
    const { authorization, traceparent, tracestate } = request.headers;
    seen.push([request.method, request.url, authorization, request.headers['x-request-id'], traceparent, tracestate, body]);
    answer(response, 201, {
      success: true,
      message: 'Job scheduled',
      data: { jobId: 'q:1', connector: 'wiki_1', scheduleConfig: { scheduleType: 'hourly', minute: 5, interval: 1, isEnabled: true, timezone: 'UTC', jitterMs: 0, missedRunPolicy: 'run_once' }, scheduledAt: '2026-11-21T10:00:00Z' },
    });
  };
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
  handle = (request, response) => {
    url = request.url;
    answer(response, 200, { success: true, message: '', data: [], nextCursor: null, hasMore: false });
  };
  await client.call('listEvents', { query: { limit: 5 } }, context);
  expect(url).toBe('/api/v1/crawlingManager/events?limit=5');
  const before = open.size;
  for (let count = 0; count < 5; count += 1) await client.call('listEvents', {}, context);
  expect(url).toBe('/api/v1/crawlingManager/events');
  expect(open.size).toBe(before);
});

test.each(['', '.', '..'])('refuses the path parameter %p and sends nothing', async (connector) => {
  handle = () => {
    throw new Error('sent');
  };
  expect(await toFault(client.call('pause', { path: { connector } }, context))).toMatchObject({
    kind: 'refused',
    details: "connector can't be part of a path",
  });
});

test('reads a refusal in either format', async () => {
  const body = {
    success: false,
    message: 'Job is already paused',
    error: { code: 'PAUSED', details: 'a: b' },
  };
  handle = (_request, response) => answer(response, 400, body);
  const told = {
    kind: 'refused',
    status: 400,
    message: 'Job is already paused',
    code: 'PAUSED',
    details: 'a: b',
  };
  expect(await toFault(pause())).toMatchObject(told);
  handle = (_request, response) =>
    answer(response, 422, {
      error: { code: 'X', message: 'No', details: [{ field: 'a', message: 'is b' }] },
    });
  expect(await toFault(pause())).toMatchObject({
    kind: 'refused',
    status: 422,
    message: 'No',
    details: 'a is b',
  });
});

test.each<[status: number, code: string, kind: string, message: string]>([
  [500, 'DELIVERY_UNKNOWN', 'failed', 'Error; whether it was done is unknown'],
  [500, 'INTERNAL_ERROR', 'failed', 'Error; whether it was done is unknown'],
  [503, 'SERVICE_UNAVAILABLE', 'failed', 'Error; whether it was done is unknown'],
  [504, 'GATEWAY_TIMEOUT', 'failed', 'Error; whether it was done is unknown'],
  [500, 'SMTP_ERROR', 'refused', 'Error; it was not sent'],
  [503, 'NOTHING_DONE', 'refused', 'Error; nothing was done'],
])('reads %d %s as %s', async (status, code, kind, message) => {
  handle = (_request, response) => answer(response, status, { error: { code, message: 'Error' } });
  expect(await toFault(pause())).toMatchObject({ kind, status, code, message });
});

test('never reports the outcome of a read as unknown', async () => {
  const list = () => client.call('listConnectors', {}, context);
  handle = (_request, response) => answer(response, 503, { message: 'Later' });
  expect(await toFault(list())).toMatchObject({ kind: 'refused', status: 503, message: 'Later' });
  handle = (_request, response) => answer(response, 500, { message: 'Broken' });
  expect(await toFault(list())).toMatchObject({ kind: 'failed', status: 500, message: 'Broken' });
  handle = (_request, response) => response.end('<html>');
  expect(await toFault(list())).toMatchObject({
    kind: 'invalid_response',
    message: "The crawl service gave an answer that can't be understood.",
  });
});

test.each([[[null]], [[{}, 1, 'a']], [[{ field: {}, message: null }]], [{}], [null]])(
  'reads a refusal whose details are invalid (%j)',
  async (details) => {
    handle = (_request, response) => answer(response, 400, { error: { message: 'No', details } });
    expect(await toFault(pause())).toMatchObject({ kind: 'refused', message: 'No', details: undefined });
  },
);

// prettier-ignore
test('allows an organisation a quarter of the calls, and fails further ones at once', async () => {
  const held: ServerResponse[] = [];
  handle = (_request, response) => held.push(response);
  const crowded = createCrawlClient({ baseUrl: getUrl(server), timeoutMs: 20_000, connections: 8 });
  const toCall = (orgId: string) =>
    crowded.call('pause', { path: { connector: 'wiki_1' } }, { ...context, orgId });
  const busy = { kind: 'busy', message: 'The crawl service is busy with other calls; nothing was done. Try again later.' };
  const under = ['a', 'a', 'b', 'b', 'c', 'c'].map(toCall);
  expect(await toFault(toCall('a'))).toMatchObject(busy);
  under.push(toCall('d'), toCall('d'));
  expect(await toFault(toCall('e'))).toMatchObject(busy);
  while (held.length < under.length) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const response of held) answer(response, 200, success);
  await Promise.all(under);
  handle = (_request, response) => answer(response, 200, success);
  await Promise.all([toCall('a'), toCall('a')]);
  await crowded.close();
});

test.each<[string, Handler]>([
  ['a page', (_request, response) => response.writeHead(200).end('<html>')],
  ['a page with an error status', (_request, response) => response.writeHead(502).end('<html>')],
  ['nothing', (_request, response) => response.writeHead(200).end()],
  ['null', (_request, response) => answer(response, 200, null)],
  ['an error without a message', (_request, response) => answer(response, 500, { error: {} })],
  ['a success of another shape', (_request, response) => answer(response, 200, { success: true, data: {} })],
  ['a success with another status', (_request, response) => answer(response, 202, success)],
  ['a redirect', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  ['10 MiB', (_request, response) => answer(response, 200, 'x'.repeat(10 * 1_048_576))],
  ['no HTTP', (request) => request.socket.end('hello\r\n\r\n')],
])('fails with invalid_response when the service answers %s', async (_what, answerWrongly) => {
  handle = answerWrongly;
  const fault = await toFault(pause());
  expect(fault).toMatchObject({
    kind: 'invalid_response',
    message: expect.stringContaining('The crawl service gave'),
  });
});

test.each<[string, Handler]>([
  ['does not answer', () => undefined],
  ['begins an answer and stops', (_request, response) => response.writeHead(200).write('{')],
  ['hangs up', (request) => request.socket.destroy()],
])('fails with timeout when the service %s', async (_what, silence) => {
  handle = silence;
  const asked = impatient.call('pause', { path: { connector: 'wiki_1' } }, context);
  expect(await toFault(asked)).toMatchObject({
    kind: 'timeout',
    message: 'The crawl service gave no answer in time; whether it did what it was asked is unknown.',
  });
});

test('ends a call at once when the caller aborts it', async () => {
  const controller = new AbortController();
  handle = () => controller.abort();
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
