import { type Answer, type CallOptions, callUrl } from '@platform/testing';
import { expectRefusal } from './expect-refusal.js';
import { admin, serviceClient, startIdentity } from './identity.js';
import { sendRaw } from './raw-http.js';

/*
 * Input that nobody means well with, at every documented route. What a route itself decides is sent to each; what the
 * server decides for all of them is sent to one. Who may call what is the authority table's (packages/e2e).
 */

/** A route as documented by `/docs/json`. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly isJson: boolean;
  /** Whether it answers without a credential. */
  readonly isOpen: boolean;
  /** Whether pages of other origins may read it, so that it answers their preflights. */
  readonly isPublic: boolean;
}

interface Operation {
  readonly requestBody?: { readonly content?: Record<string, unknown> };
  readonly security: object[];
}

/** Every documented route, the internal ones too: the list grows with the service. */
async function listRoutes(): Promise<Route[]> {
  const documents = await Promise.all(
    ['/docs/json', '/internal/openapi.json'].map((path) => identity.call('GET', path)),
  );
  const paths = documents.flatMap(({ body }) =>
    Object.entries(body.paths as Record<string, Record<string, Operation>>),
  );
  return paths.flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody, security }]) => ({
      method: method.toUpperCase(),
      path,
      hasBody: requestBody?.content !== undefined,
      // JSON at `/mcp` has its own rules and faults.
      isJson: requestBody?.content?.['application/json'] !== undefined && path !== '/mcp',
      isOpen: security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0),
      isPublic: /^\/(?:mcp\/server-card|\.well-known\/ai-catalog|v0\.1\/)/.test(path),
    })),
  );
}

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const basic = `Basic ${Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64')}`;

const identity = await startIdentity();
const session = await identity.login();
const routes = await listRoutes();
const serviceToken = (
  await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
  })
).body.access_token as string;
afterAll(() => identity.close());

const callWith = (
  { method, path }: Pick<Route, 'method' | 'path'>,
  options: CallOptions & { readonly id?: string; readonly query?: string } = {},
): Promise<Answer> =>
  callUrl(
    `${identity.url}${path.replaceAll(/\{\w+\}/g, options.id ?? UNKNOWN_ID)}${options.query ?? ''}`,
    method,
    options,
  );

const toWhere = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;
const NESTED = 10_000;
const JSON_BODY = { 'content-type': 'application/json' };

interface Fault {
  readonly what: string;
  readonly raw: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** Sends a body with a credential that the route accepts, so that only the input can be rejected. */
async function expectRejectedBody(route: Route, { raw, status, headers }: Fault): Promise<void> {
  const authorization = route.path.endsWith('/oauth2/token')
    ? basic
    : `Bearer ${/^\/api\/v1\/(?:oauth2|internal)\//.test(route.path) ? serviceToken : session}`;
  const answer = await callWith(route, { raw, headers: { authorization, ...headers } });
  const where = toWhere(route);
  expectRefusal(answer, where);
  // A form endpoint and the tool endpoint refuse some of it for their own reasons, and a token's own routes the session.
  // AuthZEN has no 415 (GRP-10).
  const isOwn =
    !route.isJson || route.path.includes('/self') || (status === 415 && route.path.startsWith('/access/'));
  expect([where, answer.status]).toEqual([where, isOwn ? answer.status : status]);
}

test.each<Fault>([
  { what: 'over the limit', raw: JSON.stringify({ name: 'x'.repeat(1_100_000) }), status: 413 },
  { what: 'of another type', raw: '<name>x</name>', status: 415, headers: { 'content-type': 'application/xml' } },
  { what: 'that breaks off', raw: '{"name": ', status: 400 },
  { what: 'with an unknown field', raw: '{"isAdmin": true}', status: 400 },
  { what: 'with a prototype key', raw: '{"__proto__": {"role": "admin"}, "name": "x"}', status: 400 },
  { what: 'that is an array', raw: '[{"name": "x"}]', status: 400 },
  { what: 'that is null', raw: 'null', status: 400 },
  { what: 'with NUL and half a character', raw: '{"name": "a\\u0000", "fullName": "\\ud800", "email": "a\\u0000@example.com", "password": "\\u0000", "reason": "\\u0000", "token": "\\u0000"}', status: 400 },
  { what: 'with texts of 10,000 characters', raw: JSON.stringify({ name: 'x'.repeat(10_000), fullName: 'x'.repeat(10_000), reason: 'x'.repeat(10_000), email: `${'x'.repeat(10_000)}@example.com`, password: 'x'.repeat(10_000), token: 'x'.repeat(10_000) }), status: 400 },
])('every route with a body rejects a body $what', async (fault) => {
  const withBody = routes.filter(({ hasBody }) => hasBody);
  expect(withBody.length).toBeGreaterThan(6);
  for (const route of withBody) await expectRejectedBody(route, fault);
}); // oxfmt-ignore

test('a route rejects bodies that no parser reads', async () => {
  const route = routes.find(({ path, method }) => method === 'POST' && path === '/api/v1/users') as Route;
  for (const fault of [
    { what: 'of no type', raw: 'name=x', status: 415, headers: { 'content-type': '' } },
    { what: 'of plain text', raw: '{}', status: 415, headers: { 'content-type': 'text/plain' } },
    { what: 'that is compressed', raw: '{}', status: 415, headers: { ...JSON_BODY, 'content-encoding': 'gzip' } },
    { what: 'that is no JSON', raw: 'NaN', status: 400 },
    { what: 'of 10,000 arrays', raw: '['.repeat(NESTED) + ']'.repeat(NESTED), status: 400 },
    { what: 'of 7,000 objects', raw: '{"name":'.repeat(7_000) + '1' + '}'.repeat(7_000), status: 400 },
    { what: 'with a constructor key', raw: '{"constructor": {"prototype": {"role": "admin"}}, "name": "x"}', status: 400 },
    { what: 'with more than 10,000 values', raw: `{"scopes": [${'1,'.repeat(10_000)}1]}`, status: 400 },
    { what: 'that is a number', raw: '1e999', status: 400 },
  ])
    await expectRejectedBody(route, fault);
  const { body } = await callWith(route, { token: session, raw: '{"a": [{"constructor": {"prototype": 1}}]}' });
  expect(body.error.details).toEqual([{ field: 'body', message: expect.stringContaining('must not have the key "__proto__"') }]);
  const { rows } = await identity.db.query('select (select count(*) from users) users, (select count(*) from personal_access_tokens) tokens');
  expect(rows).toEqual([{ users: '1', tokens: '0' }]);
}); // oxfmt-ignore

test.each([
  ['no UUID', 'x'],
  ['NUL', '%00'],
  ['a line break', `${UNKNOWN_ID}%0d%0ax-evil:%201`],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['an escaped slash', '..%2f..%2fhealth'],
  ['bad percent encoding', '%zz'],
  ['SQL', "'%20or%201=1--"],
])('every route rejects an id in its path that is %s', async (_what, id) => {
  const withPathId = routes.filter(({ path }) => path.includes('{'));
  expect(withPathId.length).toBeGreaterThan(3);
  for (const route of withPathId)
    expectRefusal(await callWith(route, { token: session, id }), toWhere(route));
});

test('the lists reject invalid pages, and return an empty one far past the end', async () => {
  const lists = routes.filter(({ method, path }) => method === 'GET' && /(?:users|admin|audit)$/.test(path));
  expect(lists).toHaveLength(5);
  for (const route of lists) {
    for (const query of ['page=0', 'page=1.5', 'page=%00', 'page=99999999999999999999', 'page=1&page=2', 'limit=101', 'unknown=1', '__proto__=1', 'page=%zz'])
      expectRefusal(await callWith(route, { token: session, query: `?${query}` }), `${route.path}?${query}`);
    const { status, body } = await callWith(route, { token: session, query: '?page=1000000000&limit=100' });
    expect([status, body.data]).toEqual([200, []]);
  }
}); // oxfmt-ignore

test('responds with 404 to an unknown path, and with 405 and Allow to an unsupported method', async () => {
  for (const path of ['/', '/api/v2/users', '//api/v1/users', '/API/V1/users', '/.env', '/%2e%2e/%2e%2e/etc/passwd', '/docs/../../package.json', '/docs/static/..%2f..%2fpackage.json', `/${'x'.repeat(10_000)}`, '/%00']) {
    const answer = await identity.call('GET', path, { token: session });
    expectRefusal(answer, path);
    expect([path, answer.status]).toEqual([path, 404]);
  }
  for (const { path, isPublic } of new Map(routes.map((route) => [route.path, route])).values()) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
    if (isPublic) allowed.push('OPTIONS');
    const [method = ''] = ['PUT', 'DELETE', 'PATCH', 'POST'].filter((one) => !allowed.includes(one));
    const answer = await callWith({ method, path }, { token: session });
    const where = `${method} ${path}`;
    expect([where, answer.status, answer.headers.get('allow')]).toEqual([where, 405, expect.stringContaining(allowed[0] ?? '')]);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  }
}); // oxfmt-ignore

test('every protected route responds with 401 and a challenge without a live credential', async () => {
  const closed = routes.filter(({ isOpen }) => !isOpen);
  expect(closed.length).toBeGreaterThan(10);
  const expectUnknown = async (route: Route, authorization?: string) => {
    const answer = await callWith(route, { headers: authorization === undefined ? {} : { authorization } });
    expectRefusal(answer, toWhere(route));
    expect([authorization, answer.status]).toEqual([authorization, 401]);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="platform"/);
  };
  for (const route of closed) {
    await expectUnknown(route);
    await expectUnknown(route, `Bearer ${session.slice(0, -2)}`);
  }
  const me = closed.find(({ path }) => path === '/api/v1/users/me') as Route;
  for (const authorization of ['', 'Bearer ', 'Basic YTpi', `bearer ${'.'.repeat(300)}`, `Bearer ${session} x`, `Bearer pat_pat_${session}`, 'Bearer Ünï', `Digest ${session}`])
    await expectUnknown(me, authorization);
}); // oxfmt-ignore

const sendBytes = async (bytes: string) => {
  const answer = await sendRaw(identity.url, bytes);
  expect(JSON.parse(answer.body)).toEqual({
    error: { code: expect.any(String), message: expect.any(String) },
  });
  expect(answer.headers.get('x-request-id')).toBeTruthy();
  return answer;
};

test('rejects two Authorization headers, whichever comes first', async () => {
  const good = `Authorization: Bearer ${session}\r\n`;
  const other = 'authorization: Bearer a.b.c\r\n';
  for (const headers of [good + other, other + good, good + good]) {
    const head = `GET /api/v1/users/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
    expect((await sendBytes(`${head}${headers}\r\n`)).status).toBe(400);
  }
});

const POST = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\n';
test.each([
  ['an Authorization of 100 kB', `${POST}Authorization: Bearer ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ['10,000 headers', `${POST}${'X-A: b\r\n'.repeat(10_000)}\r\n`, 431],
  ['a header without a colon', `${POST}nonsense\r\n\r\n`, 400],
  ['a NUL in a header', `${POST}X-A: a\0b\r\n\r\n`, 400],
  ['a space before the colon', `${POST}Authorization : x\r\n\r\n`, 400],
  ['two lengths', `${POST}Content-Length: 3\r\nContent-Length: 4\r\n\r\n`, 400],
  ['a length and chunks', `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ['a folded header', `${POST}X-A: a\r\n  b: c\r\n\r\n`, 400],
  ['a bare line feed and a second request', `${POST}X-A: b\n\nGET /metrics HTTP/1.1\r\n\r\n`, 400],
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a line break in the path', 'GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a NUL in the path', 'GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['HTTP/9', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n', 400],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['an expectation', `${POST}Connection: close\r\nExpect: the-impossible\r\nContent-Length: 2\r\n\r\n{}`, 417],
  ['an upgrade', 'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\n\r\n', 404],
])('responds to %s with one well-formed error and closes the connection', async (_what, bytes, status) => {
  const answer = await sendBytes(bytes);
  expect([answer.status, answer.count]).toEqual([status, 1]);
}); // oxfmt-ignore

test("keeps a caller's valid request id, and lets no invalid one into a header or the log", async () => {
  const echo = async (id: string) =>
    (await identity.call('GET', '/health/live', { headers: { 'x-request-id': id } })).headers.get(
      'x-request-id',
    );
  expect(await echo('trace-1:a/b')).toBe('trace-1:a/b');
  for (const id of ['x'.repeat(129), 'a b', 'é', '{"a":1}'])
    expect(await echo(id)).toMatch(/^[\da-f]{24}-[\da-z]+$/);
});

test('logs no error and no secret, and keeps serving after all of it', async () => {
  const lines = identity.logged().split('\n');
  expect(lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  const secrets = [session, serviceToken, basic.slice(6), admin.password, serviceClient.secret];
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(200);
});
