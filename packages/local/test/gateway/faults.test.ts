import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Echo } from './echo-service.js';
import { send } from './send.js';
import { useGateway } from './use-gateway.js';

const platform = useGateway({ trustedProxies: ['127.0.0.5'], bodyStallMs: 300 });

async function sendRaw(bytes: string): Promise<string> {
  const socket = connect(platform.port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

describe('faults that the gateway answers', () => {
  // prettier-ignore
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
    ['a write to its own path', 'POST /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['its own empty document', 'GET /docs/json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404, 'NOT_FOUND'],
    ['a body that stops', 'POST /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhalf', 408, 'REQUEST_TIMEOUT'],
  ])('rejects %s in the common error format, with a request id', async (_what, bytes, status, code) => {
    const answer = await sendRaw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code } });
    expect(/\r\nallow: \S+/i.test(answer)).toBe(status === 405);
  });

  it.each(['PROPFIND', 'PUT', 'OPTIONS', 'QUERY'])('forwards %s to the service', async (method) => {
    const { status, body } = await send<Echo>(platform.port, '/mcp', { method });
    expect([status, body.method]).toEqual([200, method]);
  });
});

describe('a proxy in front', () => {
  const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', 'x-forwarded-proto': 'https' };

  it("supplies the client's address and HTTPS when it is trusted", async () => {
    const options = { localAddress: '127.0.0.5', headers };
    const { body } = await send<Echo>(platform.port, '/mcp', options);
    expect(body.headers).toMatchObject({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' });
    const refused = await send(platform.port, '/nowhere', options);
    expect(refused.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  });

  it('is ignored when it is not trusted', async () => {
    const options = { localAddress: '127.0.0.6', headers };
    const { body } = await send<Echo>(platform.port, '/mcp', options);
    expect(body.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.6', 'x-forwarded-proto': 'http' });
    const refused = await send(platform.port, '/nowhere', options);
    expect(refused.headers['strict-transport-security']).toBeUndefined();
  });
});
