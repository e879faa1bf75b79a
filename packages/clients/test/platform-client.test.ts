import { createPlatformClient, PlatformError } from '../src/published.js';
import { answer, startFakeService } from './fake-service.js';

/* The client of the npm package, against what a gateway may answer. That the services answer so, their own tests show. */

const service = await startFakeService();
afterAll(() => service.close());
const create = (options: object = {}) => createPlatformClient({ baseUrl: service.url, ...options });

const toError = (call: Promise<unknown>): Promise<PlatformError> =>
  call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: PlatformError) => error,
  );

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
  const error = await toError(create().crawl.call('getSchedule', { path: { connector } }));
  expect(error).toBeInstanceOf(PlatformError);
  expect(error).toMatchObject({
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

const ofCrawl = (page: object) => ({ success: true, message: '', ...page });
/** Each form of a list: what is called, how it begins, and which query asks for the rest. */
test.each([
  ['data and a cursor', 'identity', 'listUsers', { data: [1], nextCursor: 'c' }, 'limit=100&cursor=c', { data: [2], nextCursor: null }],
  ['tokens and a cursor', 'identity', 'listOwnTokens', { tokens: [1], nextCursor: 'c' }, 'limit=100&cursor=c', { tokens: [2], nextCursor: null }],
  ['servers and metadata', 'identity', 'listRegistryServers', { servers: [1], metadata: { count: 1, nextCursor: 'c' } }, 'limit=100&cursor=c', { servers: [2], metadata: { count: 1 } }],
  ['a feed of identity', 'identity', 'listFacts', { data: [1], nextCursor: 'c', hasMore: true }, 'limit=100&after=c', { data: [2], nextCursor: 'd', hasMore: false }],
  ['a feed of crawl', 'crawl', 'listEvents', ofCrawl({ data: [1], nextCursor: 'c', hasMore: true }), 'limit=100&after=c', ofCrawl({ data: [2], nextCursor: 'd', hasMore: false })],
  ['a page of crawl', 'crawl', 'listInstances', ofCrawl({ data: [1], nextCursor: 'c' }), 'limit=100&cursor=c', ofCrawl({ data: [2], nextCursor: null })],
  ['data alone', 'crawl', 'listSchedules', ofCrawl({ data: [1, 2] }), undefined, undefined],
  ['another name alone', 'identity', 'listSessions', { sessions: [1, 2] }, undefined, undefined],
] as const)('API-21 walks through a list with %s', async (_form, name, id, first, query, second) => {
  const queries: (string | undefined)[] = [];
  service.onRequest((request, response) => {
    queries.push(request.url?.split('?')[1]);
    answer(response, 200, queries.length === 1 ? first : second);
  });
  const platform = create();
  const list = platform[name].list as (listId: string) => AsyncGenerator<number>;
  const found: number[] = [];
  for await (const item of list(id)) found.push(item);
  expect(found).toEqual([1, 2]);
  expect(queries[1]).toBe(query);
}); // oxfmt-ignore

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
  expect(await toError(call())).toMatchObject({ kind: 'busy', status: 429, code: 'RATE_LIMITED' });
  expect(asked).toBe(1);
});

test('stops waiting when the caller aborts', async () => {
  const abort = new AbortController();
  service.onRequest((_request, response) => {
    response.writeHead(503, { 'retry-after': '60' }).end();
    setImmediate(() => abort.abort());
  });
  const call = create().identity.call('getMe', {}, { signal: abort.signal });
  expect(await toError(call)).toMatchObject({ kind: 'aborted' });
});

test.each([
  ['no answer in time', { timeoutMs: 200 }, 'timeout', () => undefined],
  ['an answer that is no JSON', {}, 'invalid_response', (end: (text: string) => void) => end('<html>')],
  ['an answer that is cut off', {}, 'invalid_response', (end: (text: string) => void) => end('{"user":')],
] as const)('fails with %s', async (_what, options, kind, respond) => {
  service.onRequest((_request, response) => respond((text) => response.end(text)));
  expect(await toError(create(options).identity.call('getMe'))).toMatchObject({ kind });
});

test('API-22 repeats reads and sends with a key after a lost connection, and nothing else', async () => {
  const asked: string[] = [];
  const keys = new Set<unknown>();
  service.onRequest((request, response) => {
    asked.push(`${request.method}`);
    keys.add(request.headers['idempotency-key']);
    if (asked.length % 2 === 1) request.socket.destroy();
    else answer(response, 200, { user: null, data: { status: true, data: 'sent' } });
  });
  const body = { emailTemplateType: 'loginWithOTP' as const, sendEmailTo: ['a@b.example'], subject: 'x', templateData: {} };
  await create().identity.call('getMe');
  await create().mail.call('sendEmail', { body });
  expect(asked).toEqual(['GET', 'GET', 'POST', 'POST']);
  // The read has none; both attempts of the mail have the same one.
  expect([...keys]).toEqual([undefined, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  const own = { body, headers: { 'idempotency-key': 'order-7' } };
  await create().mail.call('sendEmail', own);
  expect(keys.has('order-7')).toBe(true);
  asked.length = 0;
  const error = await toError(create().crawl.call('resume', { path: { connector } }));
  expect(error).toMatchObject({ kind: 'disconnected', outcome: 'unknown', service: 'crawl', operation: 'resume' });
  expect(asked).toEqual(['POST']);
}); // oxfmt-ignore

test('API-26 creates with a key of its own, and waits for the first request with it', async () => {
  const keys: unknown[] = [];
  service.onRequest((request, response) => {
    keys.push(request.headers['idempotency-key']);
    const error = { code: 'IDEMPOTENCY_KEY_IN_USE', message: 'Under way' };
    if (keys.length === 1) request.socket.destroy();
    else if (keys.length === 2) answer(response, 409, { error });
    else answer(response, 201, { group: { id: '1' } });
  });
  expect(await create().identity.call('createGroup', { body: { name: 'x' } })).toEqual({
    group: { id: '1' },
  });
  expect([keys.length, new Set(keys).size, keys[0]]).toEqual([3, 1, expect.any(String)]);
});

test('makes 60 calls at once', async () => {
  service.onRequest((_request, response) => answer(response, 200, { user: null }));
  const platform = create();
  const all = await Promise.all(Array.from({ length: 60 }, () => platform.identity.call('getMe')));
  expect(all).toHaveLength(60);
});

test.each([
  [400, 'refused', 'not_done'],
  [404, 'refused', 'not_done'],
  [429, 'busy', 'not_done'],
  [503, 'busy', 'unknown'],
  [500, 'failed', 'unknown'],
])('API-23 fails after %d as %s, with all that came', async (status, kind, outcome) => {
  const sent = { success: false, message: 'No', error: { code: 'CODE', details: 'a: is b' } };
  service.onRequest((_request, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', 'retry-after': '7' })
      .end(JSON.stringify(sent)),
  );
  const error = await toError(create().crawl.call('resume', { path: { connector } }));
  expect(error).toBeInstanceOf(PlatformError);
  expect(error).toMatchObject({
    kind, outcome, status, code: 'CODE', requestId: 'r-1', retryAfterMs: 7_000,
    message: expect.stringMatching(/^No/), details: [{ field: 'a', message: 'is b' }],
  });
  expect(JSON.parse(error.response?.text ?? '')).toEqual(sent);
  expect(error.response?.headers.get('x-request-id')).toBe('r-1');
}); // oxfmt-ignore

test("API-23 keeps the status of a proxy's page", async () => {
  service.onRequest((_request, response) => response.writeHead(502).end('<html>'));
  const error = await toError(create().crawl.call('resume', { path: { connector } }));
  expect(error).toMatchObject({
    kind: 'failed',
    status: 502,
    outcome: 'unknown',
    response: { text: '<html>' },
  });
  expect(error.message).toContain('502');
});

test.each<[string, () => unknown]>([
  ['a missing value of the path', () => create().crawl.call('resume', {} as never)],
  ['a value that changes the path', () => create().crawl.call('resume', { path: { connector: '..' } })],
  ['an operation that is none', () => create().crawl.call('constructor' as never)],
  ['a header that is none', () => create({ headers: { 'x y': '1' } }).identity.call('getMe')],
  ['a token that is none', () => create({ token: 'a\nb' }).identity.call('getMe')],
  ['a body that is no JSON', () => create().identity.call('login', { body: { email: 1n, password: '' } } as never)],
  ['a time limit that is none', () => create({ timeoutMs: Number.NaN })],
  ['a time limit of a call that is none', () => create().identity.call('getMe', {}, { timeoutMs: 0 })],
  ['retries that are none', () => create({ maxRetries: Number.NaN })],
  ['an address that is none', () => createPlatformClient({ baseUrl: 'localhost' })],
])('API-24 throws a TypeError for %s, and sends nothing', async (_what, call) => {
  let isSent = false;
  service.onRequest((_request, response) => {
    isSent = true;
    response.end();
  });
  const error: unknown = await Promise.resolve().then(call).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).not.toBeInstanceOf(PlatformError);
  expect(isSent).toBe(false);
}); // oxfmt-ignore

test('a token that is none is not in the message', async () => {
  await expect(create({ token: 'secret\n' }).identity.call('getMe')).rejects.toThrow(/^(?!.*secret)/);
});

test("sends the caller's headers, by the caller's own fetch", async () => {
  let seen: unknown;
  service.onRequest((request, response) => {
    seen = [request.headers['x-proxy'], request.headers['x-by']];
    answer(response, 200, { user: null });
  });
  const ownFetch = (url: string, init: RequestInit) => {
    (init.headers as Headers).set('x-by', 'fetch');
    return fetch(url, init);
  };
  await create({ headers: { 'x-proxy': 'p' }, fetch: ownFetch }).identity.call('getMe');
  expect(seen).toEqual(['p', 'fetch']);
});

test('says that nothing was done when the platform cannot be reached', async () => {
  const gone = await startFakeService();
  await gone.close();
  const platform = createPlatformClient({ baseUrl: gone.url });
  expect(await toError(platform.crawl.call('resume', { path: { connector } }))).toMatchObject({
    kind: 'unreachable',
  });
});

test('follows no redirect, which would take the token elsewhere', async () => {
  service.onRequest((_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  );
  expect(await toError(create({ token: 't' }).identity.call('getMe'))).toMatchObject({
    kind: 'invalid_response',
  });
});
