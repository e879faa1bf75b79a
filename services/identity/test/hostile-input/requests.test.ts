import { admin, startIdentity } from '../identity.js';
import { sendRaw } from '../raw-http.js';
import { callWith, expectCleanLog, expectRefusal, listRoutes } from './routes.js';

const identity = await startIdentity();
const session = await identity.login();
const routes = await listRoutes(identity);
afterAll(() => identity.close());

const withPathId = () => routes.filter(({ path }) => path.includes('{'));
const lists = () =>
  routes.filter(({ path }) => /(?:users|admin|audit)$/.test(path)).filter(({ method }) => method === 'GET');

test.each([
  ['no UUID', 'x'],
  ['a URN', 'urn:uuid:01900000-0000-7000-8000-000000000000'],
  ['braces', '%7B01900000-0000-7000-8000-000000000000%7D'],
  ['NUL', '%00'],
  ['an id with NUL', '01900000-0000-7000-8000-000000000000%00'],
  ['a line break', '01900000-0000-7000-8000-000000000000%0d%0ax-evil:%201'],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['an escaped slash', '..%2f..%2fhealth'],
  ['bad percent encoding', '%zz'],
  ['a half of an UTF-8 character', '%c3'],
  ['SQL', "'%20or%201=1--"],
])('rejects an id in the path that is %s', async (_what, id) => {
  expect(withPathId().length).toBeGreaterThan(3);
  for (const route of withPathId())
    expectRefusal(await callWith(identity, route, { token: session, id }), `${route.method} ${route.path}`);
});

test.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'page=', 'page=%00', 'page=99999999999999999999', 'page=1e400', 'page=NaN', 'page=1&page=2', 'page[]=1', 'limit=0', 'limit=101', 'limit=x', 'limit=%00', 'unknown=1', '__proto__=1', 'page=%zz'])(
  'the lists reject ?%s', async (query) => {
    expect(lists()).toHaveLength(4);
    for (const route of lists())
      expectRefusal(await callWith(identity, route, { token: session, query: `?${query}` }), `${route.path}?${query}`);
  },
); // prettier-ignore

test('returns an empty page far past the end', async () => {
  for (const route of lists()) {
    const { status, body } = await callWith(identity, route, { token: session, query: '?page=1000000000&limit=100' });
    expect([status, body.data]).toEqual([200, []]);
  }
}); // prettier-ignore

test('responds with 404 to an unknown path, and with 405 and Allow to an unsupported method', async () => {
  for (const path of ['/', '/api', '/api/v1', '/api/v2/users', '//api/v1/users', '/API/V1/users', '/.env', '/%2e%2e/%2e%2e/etc/passwd', '/docs/../../package.json', '/docs/static/..%2f..%2fpackage.json', `/${'x'.repeat(10_000)}`, '/%00']) {
    const answer = await identity.call('GET', path, { token: session });
    expectRefusal(answer, path);
    expect([path, answer.status]).toEqual([path, 404]);
  }
  for (const { path, isPublic } of routes) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
    if (isPublic) allowed.push('OPTIONS');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !allowed.includes(one))) {
      const answer = await callWith(identity, { method, path }, { token: session });
      const where = `${method} ${path}`;
      expect([where, answer.status, answer.headers.get('allow')]).toEqual([where, 405, expect.stringContaining(allowed[0] ?? '')]);
      expect(answer.headers.get('x-request-id')).toBeTruthy();
    }
  }
}); // prettier-ignore

test('every protected route responds with 401 and a challenge without a live credential', async () => {
  const closed = routes.filter(({ isOpen }) => !isOpen);
  expect(closed.length).toBeGreaterThan(10);
  for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', `bearer ${'.'.repeat(300)}`, 'Bearer a.b.c', `Bearer ${session.slice(0, -2)}`, `Bearer ${session} x`, `Bearer pat_pat_${session}`, 'Bearer Ünï', `Digest ${session}`]) {
    for (const route of closed) {
      // Fetch refuses to send what is no Latin-1; these bytes are.
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await callWith(identity, route, { headers });
      expectRefusal(answer, `${route.method} ${route.path}`);
      expect([authorization, answer.status]).toEqual([authorization, 401]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="platform"/);
    }
  }
}); // prettier-ignore

const raw = async (bytes: string) => {
  const answer = await sendRaw(identity.url, bytes);
  return { ...answer, json: JSON.parse(answer.body) as unknown };
};
const inShape = { error: { code: expect.any(String), message: expect.any(String) } };

test('rejects two Authorization headers, whichever comes first', async () => {
  const good = `Authorization: Bearer ${session}\r\n`;
  const other = 'authorization: Bearer a.b.c\r\n';
  for (const headers of [good + other, other + good, good + good]) {
    const answer = await raw(
      `GET /api/v1/users/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`,
    );
    expect([answer.status, answer.json]).toEqual([400, inShape]);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  }
});

test.each([
  ['an Authorization of 100 kB', `Authorization: Bearer ${'x'.repeat(100_000)}\r\n`, 431],
  ['10,000 headers', 'X-A: b\r\n'.repeat(10_000), 431],
  ['a header without a colon', 'nonsense\r\n', 400],
  ['a NUL in a header', 'X-A: a\0b\r\n', 400],
  ['a space before the colon', 'Authorization : x\r\n', 400],
  ['two lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n', 400],
  ['a length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', 400],
  ['a folded header', 'X-A: a\r\n  b: c\r\n', 400],
  ['a bare line feed and a second request', 'X-A: b\n\nGET /metrics HTTP/1.1\r\n', 400],
])('responds to %s with one well-formed error and closes the connection', async (_what, headers, status) => {
  const answer = await raw(`POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
  expect([answer.status, answer.json, answer.count]).toEqual([status, inShape, 1]);
  expect(answer.headers.get('x-request-id')).toBeTruthy();
});

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a line break in the path', 'GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a NUL in the path', 'GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['HTTP/9', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an expectation', 'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: the-impossible\r\nContent-Length: 2\r\n\r\n{}'],
  ['an upgrade', 'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\n\r\n'],
])('responds to %s on a raw connection with a well-formed 4xx', async (_what, bytes) => {
  const answer = await raw(bytes);
  expect([answer.status >= 400 && answer.status < 500, answer.json, answer.count]).toEqual([true, inShape, 1]);
  expect(answer.headers.get('x-request-id')).toBeTruthy();
}); // prettier-ignore

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
  expectCleanLog(identity, [session, admin.password]);
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(200);
});
