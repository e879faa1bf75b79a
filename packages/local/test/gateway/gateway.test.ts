import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Echo } from './echo-service.js';
import { send } from './send.js';
import { useGateway } from './use-gateway.js';

interface Failure {
  readonly error: { readonly code: string; readonly message: string };
}

const platform = useGateway();

describe('forwarded requests', () => {
  it.each(['/mcp', '/mcp/', '/api/v1/users', '/api/v1/users/a%20b/%2Fc?x=%2e%2e&y=a/../b&y=2'])(
    'the target %s reaches its service unchanged',
    async (path) => {
      expect((await send<Echo>(platform.port, path)).body.url).toBe(path);
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'a %s keeps its method, its type and its body',
    async (method) => {
      const headers = { 'content-type': 'application/json', 'content-length': 7 };
      const { body } = await send<Echo>(platform.port, '/api/v1/users', { method, headers, body: '{"a":1}' });
      expect(body).toMatchObject({
        method,
        bodyStart: '{"a":1}',
        headers: { 'content-type': 'application/json' },
      });
    },
  );

  it.each([
    ['without a body', {}, ''],
    ['without a type', { 'content-length': 2 }, 'ab'],
    ['with an empty JSON body', { 'content-type': 'application/json', 'content-length': 0 }, ''],
    ['in chunks of 3 MB', { 'content-type': 'application/octet-stream' }, 'x'.repeat(3_000_000)],
    [
      'of 40 MB',
      { 'content-type': 'application/json', 'content-length': 40_000_000 },
      'x'.repeat(40_000_000),
    ],
    ['announced by Expect', { expect: '100-continue', 'content-length': 2 }, 'ab'],
  ])('a POST %s arrives as sent', async (_what, headers, body) => {
    const answer = await send<Echo>(platform.port, '/mcp', { method: 'POST', headers, body });
    expect(answer).toMatchObject({ status: 200, body: { bodyBytes: body.length } });
  });

  it('a GET with a body is answered, without the body', async () => {
    const answer = await send<Echo>(platform.port, '/mcp', { headers: { 'content-length': 3 }, body: 'abc' });
    expect(answer).toMatchObject({ status: 200, body: { bodyBytes: 0 } });
  });

  it("a service sees the client's address and host from the gateway, never from the client", async () => {
    const forged = { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6', 'x-real-ip': '6.6.6.6' };
    const { body } = await send<Echo>(platform.port, '/mcp', {
      headers: { ...forged, host: 'kb.test', connection: 'x-forwarded-for' },
    });
    expect(body.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'kb.test',
    });
    expect(JSON.stringify(body.headers)).not.toContain('6.6.6.6');
  });

  it('a plain request id is kept, any other is replaced, and service and client see the same id', async () => {
    const kept = await send<Echo>(platform.port, '/mcp', { headers: { 'x-request-id': 'abc-1' } });
    expect([kept.headers['x-request-id'], kept.body.headers['x-request-id']]).toEqual(['abc-1', 'abc-1']);
    const replaced = await send<Echo>(platform.port, '/mcp', { headers: { 'x-request-id': 'a b"<' } });
    expect(replaced.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(replaced.body.headers['x-request-id']).toBe(replaced.headers['x-request-id']);
  });

  it('a stream arrives event by event, and ends at the service when the client disconnects', async () => {
    const leave = new AbortController();
    const gone = once(platform.identity.events, 'streamClosed');
    const response = await fetch(`http://127.0.0.1:${platform.port}/mcp/stream`, { signal: leave.signal });
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value as Uint8Array).toString()).toBe('data: one\n\n');
    leave.abort();
    expect(await gone).toEqual(['closed']);
  });

  it.each(['GET', 'POST'])('a service that has not responded to a %s notices that its client disconnects', async (method) => {
    const leave = new AbortController();
    const ended = once(platform.identity.events, 'waitingEnded');
    const answer = fetch(`http://127.0.0.1:${platform.port}/mcp/waiting`, {
      method,
      signal: leave.signal,
      ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
    });
    while (platform.identity.targets.length === 0) await nextTurn();
    leave.abort();
    await expect(answer).rejects.toThrow('aborted');
    expect(await ended).toEqual(['ended']);
  }); // prettier-ignore

  it("a service's own 503 is forwarded at once, not retried", async () => {
    const response = await fetch(`http://127.0.0.1:${platform.port}/mcp/unavailable`);
    expect([response.status, await response.text()]).toEqual([503, 'busy']);
    expect(platform.identity.targets).toHaveLength(1);
  });
});

describe('rejected requests', () => {
  it.each([
    '/nowhere',
    '/metrics',
    '/docs/json/../../metrics',
    '/api/v1/usersX',
    '/api/v1/users/internal',
    '/api/v1/users/internal/keys?x=1',
    '/api/v1/users/%69nternal/keys',
    '/api/v1/users/internal/',
    '/API/v1/users',
    '//api/v1/users',
    '/api/v1//users',
    '/api/v1/users/../../../metrics',
    '/api/v1/users/%2e%2e/%2E./metrics',
    '/api/v1/users/.%2e/metrics',
    '/api/v1/users/./x',
    '/api/v1/users/..\\..\\metrics',
    '/api/v1/users/..%2f..%2fmetrics',
    '/api/v1/users/%2e%2e%5cmetrics',
    '/mcp/..',
    '/mcp/..?x',
    '/mcp#/../metrics',
    'http://127.0.0.1/mcp',
    '//127.0.0.1:1/mcp',
  ])('%s reaches no service', async (path) => {
    const answer = await send<Failure>(platform.port, path);
    expect(answer).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND', message: 'Not found' } },
    });
    expect(platform.identity.targets).toEqual([]);
  });

  it('an invalid percent encoding fails with 400', async () => {
    expect(await send(platform.port, '/mcp/%zz')).toMatchObject({
      status: 400,
      body: { error: { code: 'BAD_REQUEST' } },
    });
  });

  it.each([20_000, 100_000, 400_000])(
    'headers of %d bytes fail with 431 in the common error format',
    async (bytes) => {
      const answer = await send<Failure>(platform.port, '/mcp', {
        headers: { authorization: 'x'.repeat(bytes) },
      });
      expect(answer).toMatchObject({ status: 431, body: { error: { code: 'HEADERS_TOO_LARGE' } } });
      expect(platform.identity.targets).toEqual([]);
    },
  );

  it('a request that is not HTTP fails with 400 in the common error format', async () => {
    const socket = connect(platform.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('NONSENSE\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"code":"BAD_REQUEST"/);
  });
});

describe('when a service is unavailable', () => {
  it('its paths fail with 503 in the format that its clients expect', async () => {
    const mail = await send(platform.port, '/api/v1/mail/x', { method: 'POST' });
    expect(mail).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(mail.body).toEqual({
      error: { code: 'SERVICE_UNAVAILABLE', message: 'Service temporarily unavailable' },
    });
    const crawl = await send(platform.port, '/api/v1/crawlingManager/x');
    expect(crawl.body).toMatchObject({
      success: false,
      message: expect.any(String),
      error: { code: 'SERVICE_UNAVAILABLE' },
    });
  });

  it('a dropped connection fails with 502', async () => {
    expect(await send(platform.port, '/mcp/broken')).toMatchObject({
      status: 502,
      body: { error: { code: 'BAD_GATEWAY' } },
    });
  });

  it('/health/ready responds with 503 and names it, while /health/live responds with 200', async () => {
    const services = { identity: 'ready', mail: 'unreachable', crawl: 'unreachable' };
    expect(await send(platform.port, '/health/ready')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', services },
    });
    platform.identity.isReady = false;
    expect(await send(platform.port, '/health/ready')).toMatchObject({
      body: { services: { identity: 'not ready' } },
    });
    platform.identity.isReady = true;
    expect(await send(platform.port, '/health/live')).toMatchObject({
      status: 200,
      body: { status: 'live' },
    });
  });
});

describe('the documentation', () => {
  it('is one page over the documents of all services', async () => {
    const page = await fetch(`http://127.0.0.1:${platform.port}/docs`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const script = await fetch(`http://127.0.0.1:${platform.port}/docs/static/swagger-initializer.js`);
    expect(await script.text()).toContain('"/docs/crawl/json"');
    expect((await send<Echo>(platform.port, '/docs/identity/json')).body.url).toBe('/docs/json');
  });
});
