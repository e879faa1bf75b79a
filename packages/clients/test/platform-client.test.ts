import { createPlatformClient, ServiceFault } from '../src/published.js';
import { answer, startFakeService, toFault } from './fake-service.js';

/* The client of the npm package, against what a gateway may answer. That the services answer so, their own tests show. */

const service = await startFakeService();
afterAll(() => service.close());
const create = (options: object = {}) => createPlatformClient({ baseUrl: service.url, ...options });

const runs = (...ids: string[]) => ids.map((runId) => ({ runId }));
const connector = 'wiki_1';

test('logs in without a token, and asks for one before each of the other calls', async () => {
  const seen: (string | undefined)[] = [];
  service.onRequest((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    answer(response, 200, { accessToken: `session-${seen.length}` });
  });
  const anonymous = create();
  let sessions = 0;
  const platform = create({
    token: async () => {
      sessions += 1;
      const body = { email: 'ada@example.com', password: 'secret' };
      const { accessToken } = (await anonymous.identity.call('login', { body })) as { accessToken: string };
      return `${accessToken}-${sessions}`;
    },
  });
  await platform.identity.call('getMe');
  await platform.identity.call('getMe', {}, { token: 'another' });
  expect(seen).toEqual([
    'POST /api/v1/auth/login undefined',
    'GET /api/v1/users/me Bearer session-1-1',
    'GET /api/v1/users/me Bearer another',
  ]);
});

test('names the program, and passes parameters, body and request id on', async () => {
  let seen: unknown;
  service.onRequest((request, response, body) => {
    const { 'user-agent': agent, 'x-request-id': id, 'content-type': type } = request.headers;
    seen = { path: request.url, agent, id, type, body };
    answer(response, 202, { success: true });
  });
  const platform = create({ userAgent: 'acme-reports/1.2', token: 't' });
  const input = { path: { connector: 'wiki 1/x' }, body: { until: '2026-12-01T00:00:00Z' } };
  await platform.crawl.call('pause', input, { requestId: 'request-1' });
  expect(seen).toEqual({
    path: '/api/v1/crawlingManager/wiki%201%2Fx/pause',
    agent: 'acme-reports/1.2 @platform/clients',
    id: 'request-1',
    type: 'application/json',
    body: '{"until":"2026-12-01T00:00:00Z"}',
  });
});

test.each([
  [
    'of identity and mail',
    {
      error: {
        code: 'VALIDATION_ERROR',
        message: 'Invalid',
        details: [{ field: 'name', message: 'is empty' }],
      },
    },
    [{ field: 'name', message: 'is empty' }],
  ],
  [
    'of crawl',
    {
      success: false,
      message: 'Invalid',
      error: { code: 'VALIDATION_ERROR', details: 'a.b: is odd; c: is: even; odd' },
    },
    [
      { field: 'a.b', message: 'is odd' },
      { field: 'c', message: 'is: even; odd' },
    ],
  ],
])('fails with the details %s as a list', async (_whose, body, details) => {
  service.onRequest((_request, response) => answer(response, 400, body));
  const fault = await toFault(create().crawl.call('getSchedule', { path: { connector } }));
  expect(fault).toBeInstanceOf(ServiceFault);
  expect(fault).toMatchObject({
    kind: 'refused',
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'Invalid',
    details,
  });
});

test('walks through a list page by page, as it is read', async () => {
  const asked: (string | undefined)[] = [];
  service.onRequest((request, response) => {
    asked.push(request.url?.split('?')[1]);
    const isFirst = !request.url?.includes('cursor');
    answer(
      response,
      200,
      isFirst ? { data: runs('1', '2'), nextCursor: 'c 1' } : { data: runs('3'), nextCursor: null },
    );
  });
  const found: [runId: string, pages: number][] = [];
  const list = create().crawl.list('listRuns', { path: { connector }, query: { outcome: 'failed' } });
  for await (const { runId } of list) {
    found.push([runId, asked.length]);
  }
  expect(found).toEqual([
    ['1', 1],
    ['2', 1],
    ['3', 2],
  ]);
  expect(asked).toEqual(['limit=100&outcome=failed', 'limit=100&outcome=failed&cursor=c+1']);
});

test('walks through a feed to its end', async () => {
  service.onRequest((request, response) => {
    const isFirst = !request.url?.includes('after=end');
    answer(response, 200, { data: [{ id: isFirst ? '1' : '2' }], nextCursor: 'end', hasMore: isFirst });
  });
  const found: string[] = [];
  for await (const { id } of create().identity.list('listFacts')) found.push(id);
  expect(found).toEqual(['1', '2']);
});

test.each([
  ['429', 429, JSON.stringify({ error: { code: 'RATE_LIMITED', message: 'Slow down' } })],
  ['503 of a proxy', 503, '<html>'],
])('repeats a read after %s, when Retry-After says so', async (_what, status, body) => {
  const asked: number[] = [];
  service.onRequest((_request, response) => {
    asked.push(performance.now());
    if (asked.length < 3) response.writeHead(status, { 'retry-after': '1' }).end(body);
    else answer(response, 200, { user: null });
  });
  expect(await create().identity.call('getMe')).toEqual({ user: null });
  expect(asked).toHaveLength(3);
  expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(1_900);
});

test.each([
  ['a change', { 'retry-after': '0' }, () => create().crawl.call('resume', { path: { connector } })],
  ['a read for more than a minute', { 'retry-after': '61' }, () => create().identity.call('getMe')],
  ['a read when it may not', { 'retry-after': '0' }, () => create({ maxRetries: 0 }).identity.call('getMe')],
])('does not repeat %s', async (_what, headers, call) => {
  let asked = 0;
  service.onRequest((_request, response) => {
    asked += 1;
    response
      .writeHead(429, headers)
      .end(JSON.stringify({ error: { code: 'RATE_LIMITED', message: 'Slow down' } }));
  });
  expect(await toFault(call())).toMatchObject({ kind: 'refused', status: 429, code: 'RATE_LIMITED' });
  expect(asked).toBe(1);
});

test('stops waiting when the caller aborts', async () => {
  const abort = new AbortController();
  service.onRequest((_request, response) => {
    response.writeHead(503, { 'retry-after': '60' }).end();
    setImmediate(() => abort.abort());
  });
  const call = create().identity.call('getMe', {}, { signal: abort.signal });
  expect(await toFault(call)).toMatchObject({ kind: 'aborted' });
});

test.each([
  ['no answer in time', { timeoutMs: 200 }, 'timeout', () => undefined],
  ['an answer that is no JSON', {}, 'invalid_response', (end: (text: string) => void) => end('<html>')],
] as const)('fails with %s', async (_what, options, kind, respond) => {
  service.onRequest((_request, response) => respond((text) => response.end(text)));
  expect(await toFault(create(options).identity.call('getMe'))).toMatchObject({ kind });
});

test('says that nothing was done when the platform cannot be reached', async () => {
  const gone = await startFakeService();
  await gone.close();
  const platform = createPlatformClient({ baseUrl: gone.url });
  expect(await toFault(platform.crawl.call('resume', { path: { connector } }))).toMatchObject({
    kind: 'unreachable',
  });
});

test('follows no redirect, which would take the token elsewhere', async () => {
  service.onRequest((_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  );
  expect(await toFault(create({ token: 't' }).identity.call('getMe'))).toMatchObject({
    kind: 'invalid_response',
  });
});
