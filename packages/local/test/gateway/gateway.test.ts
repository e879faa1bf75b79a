import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Echo } from './echo-service.js';
import { send } from './send.js';
import { useGateway } from './use-gateway.js';

const platform = useGateway();

async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

describe('forwarded requests', () => {
  it.each([
    '/',
    '/health/live',
    '/health/ready',
    '/docs',
    '/docs/identity/json',
    '/mcp',
    '/mcp/',
    '/api/v1/users',
    '/api/v1/users/a%20b/%2Fc?x=%2e%2e&y=a/../b&y=2',
  ])('the target %s reaches its service unchanged', async (path) => {
    expect((await send<Echo>(platform.port, path)).body.url).toBe(path);
  });

  it.each(['POST', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'])(
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

  it.each([
    ['without a body', {}, ''],
    ['with a body of unknown type', { 'content-length': 2 }, 'ab'],
  ])('a QUERY %s is answered by its service', async (_what, headers, body) => {
    const answer = await send<Echo>(platform.port, '/mcp', { method: 'QUERY', headers, body });
    expect(answer).toMatchObject({ status: 200, body: { method: 'QUERY', bodyStart: body } });
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
  }); // oxfmt-ignore

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
    '/health',
    '/health/live/',
    '/internal/openapi.json',
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
    const answer = await send(platform.port, path);
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
      const answer = await send(platform.port, '/mcp', {
        headers: { authorization: 'x'.repeat(bytes) },
      });
      expect(answer).toMatchObject({ status: 431, body: { error: { code: 'HEADERS_TOO_LARGE' } } });
      expect(platform.identity.targets).toEqual([]);
    },
  );
});

describe('faults that the gateway answers', () => {
  // oxfmt-ignore
  it.each([
    ['what is not HTTP', 'NONSENSE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two Host headers', 'GET /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'BAD_REQUEST'],
    ['no Host header', 'GET /mcp HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['HTTP/1.0 with chunks', 'POST /mcp HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two lengths', 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400, 'BAD_REQUEST'],
    ['a length beside chunks', 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a transfer coding that is not chunked', 'POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a chunk without a size', 'POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n0\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a chunk longer than its size', 'POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n', 400, 'BAD_REQUEST'],
    ['TRACE', 'TRACE /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ])('rejects %s in the common error format, with a request id', async (_what, bytes, status, code) => {
    const answer = await sendRaw(platform.port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code } });
    expect(/\r\nallow: \S+/i.test(answer)).toBe(status === 405);
  });
});

describe('an incomplete or unwanted body', () => {
  it.each([
    ['that its service refuses', '/mcp/refused', 413],
    ['for an unavailable service', '/api/v1/mail/x', 503],
  ])('a large body %s always gets the response, and never a reset', async (_what, path, status) => {
    const body = 'x'.repeat(38_000_000);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const statuses = new Set<number>();
    for (let count = 0; count < 6; count += 1)
      statuses.add((await send(platform.port, path, { method: 'POST', headers, body })).status);
    expect(statuses).toEqual(new Set([status]));
  });

  it.each([
    ['refuses', '/mcp/refused', '{"refused":true}'],
    ['cannot take', '/api/v1/mail/x', '{"error":{"code":"SERVICE_UNAVAILABLE"'],
  ])('a body that a service %s gets a complete response before its end', async (_what, path, expected) => {
    const upload = request({ port: platform.port, path, method: 'POST', headers: { 'content-length': 100 } });
    upload.on('error', () => undefined);
    upload.write('x');
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(await text(answer)).toContain(expected);
    upload.destroy();
  });

  it('a service notices a client that disconnects in the middle of a body', async () => {
    const upload = request({
      port: platform.port,
      path: '/mcp',
      method: 'POST',
      headers: { 'content-length': 100 },
    });
    upload.on('error', () => undefined);
    upload.write('x');
    while (platform.identity.targets.length === 0) await nextTurn();
    const cutOff = once(platform.identity.events, 'cutOff');
    upload.destroy();
    expect(await cutOff).toEqual(['/mcp']);
  });
});

describe('a gateway with other settings', () => {
  const own = useGateway({ trustedProxies: ['127.0.0.5'], bodyStallMs: 300 });
  const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', 'x-forwarded-proto': 'https' };

  it("gets the client's address and HTTPS from a trusted proxy", async () => {
    const options = { localAddress: '127.0.0.5', headers };
    const { body } = await send<Echo>(own.port, '/mcp', options);
    expect(body.headers).toMatchObject({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' });
    const refused = await send(own.port, '/nowhere', options);
    expect(refused.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  });

  it('ignores what any other client says about them', async () => {
    const options = { localAddress: '127.0.0.6', headers };
    const { body } = await send<Echo>(own.port, '/mcp', options);
    expect(body.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.6', 'x-forwarded-proto': 'http' });
    const refused = await send(own.port, '/nowhere', options);
    expect(refused.headers['strict-transport-security']).toBeUndefined();
  });

  it('answers 408 when a body stops', async () => {
    const head = 'POST /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10';
    const answer = await sendRaw(own.port, `${head}\r\n\r\nhalf`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"REQUEST_TIMEOUT"/);
  });
});

describe('when a service is unavailable', () => {
  it('its paths fail with 503 in the format that its clients expect', async () => {
    const mail = await send(platform.port, '/api/v1/mail/x', { method: 'POST' });
    expect(mail).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(mail.body).toEqual({
      error: { code: 'SERVICE_UNAVAILABLE', message: 'Service temporarily unavailable' },
    });
    expect((await send(platform.port, '/docs/mail/json')).status).toBe(503);
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
});
