import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { ambiguousMessages, describeWith, findMisreading, waitFor } from '@platform/testing';
import { type Nginx, startNginx } from './nginx.js';

interface Seen {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** Represents a TLS-terminating proxy; only its address matters. */
const TRUSTED = '127.0.0.5';

describeWith('nginx', 'the gateway of the Compose file', () => {
  let service: Server;
  let gateway: Nginx;
  /** The number of requests that the service answers by breaking their connection. */
  let toBreak = 0;
  /** The targets of the requests that the service got in a test. */
  let targets: string[] = [];
  beforeEach(() => {
    targets = [];
  });

  beforeAll(async () => {
    service = createServer(({ method = '', url = '', headers, socket }, response) => {
      targets.push(url);
      if (toBreak > 0) {
        toBreak -= 1;
        socket.destroy();
        return;
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, headers }));
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
    const address = `127.0.0.1:${(service.address() as AddressInfo).port}`;
    gateway = await startNginx(
      { identity: [address], mail: [address], crawl: [address] },
      { GATEWAY_TRUSTED_PROXIES: `${TRUSTED}, 2001:db8::/32` },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    service.closeAllConnections();
    service.close();
  });

  interface SendOptions {
    readonly method?: string;
    readonly from?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
  }
  async function send({ method = 'GET', from, path = '/mcp', headers }: SendOptions) {
    const target = { host: '127.0.0.1', port: gateway.port, agent: false, ...(headers && { headers }) };
    const outgoing = request({ ...target, method, path, ...(from && { localAddress: from }) }).end();
    const [answer] = await once(outgoing, 'response');
    const body = (await json(answer).catch(() => undefined)) as Seen;
    return { status: answer.statusCode, headers: answer.headers, body };
  }
  async function sendRaw(bytes: string): Promise<string> {
    const socket = connect(gateway.port, '127.0.0.1').setEncoding('utf8');
    socket.write(bytes);
    return text(socket);
  }

  test("accepts the client's address and HTTPS from a trusted proxy", async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const { body } = await send({ from: TRUSTED, headers });
    expect(body.headers).toMatchObject(headers);
    const refused = await send({ from: TRUSTED, headers, path: '/nowhere' });
    expect([refused.status, refused.headers['strict-transport-security']]).toEqual([
      404,
      'max-age=31536000; includeSubDomains',
    ]);
  });

  test('answers a browser at an unknown address with a page, and everybody else with the error', async () => {
    const ask = async (path: string, accept: string): Promise<[number, string | null]> => {
      const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers: { accept } });
      return [response.status, response.headers.get('content-type')];
    };
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    expect(await ask('/nowhere', browser)).toEqual([404, 'text/html']);
    expect(await ask('/nowhere', '*/*')).toEqual([404, 'application/json']);
    expect(await ask('/api/v1/nowhere', browser)).toEqual([404, 'application/json']);
  });

  test('ignores forged headers that a client sends through the trusted proxy', async () => {
    const headers = {
      'x-forwarded-for': `198.51.100.1, 203.0.113.7, ${TRUSTED}`,
      'x-forwarded-proto': 'https',
    };
    const { body } = await send({ from: TRUSTED, headers });
    expect(body.headers['x-forwarded-for']).toBe('203.0.113.7');
  });

  test('ignores the headers of an untrusted client, and sends it no Strict-Transport-Security', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-real-ip': '203.0.113.7',
    };
    const { body } = await send({ from: '127.0.0.6', headers });
    expect(body.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.6', 'x-forwarded-proto': 'http' });
    expect(JSON.stringify(body.headers)).not.toContain('203.0.113.7');
    const refused = await send({ from: '127.0.0.6', headers, path: '/nowhere' });
    expect(refused.headers['strict-transport-security']).toBeUndefined();
  });

  test.each(['203.0.113.7; evil', '0.0.0.0/0', 'proxy.example'])(
    'does not start with %s as a trusted proxy',
    async (value) => {
      await expect(startNginx({}, { GATEWAY_TRUSTED_PROXIES: value })).rejects.toThrow(
        /GATEWAY_TRUSTED_PROXIES/,
      );
    },
  );

  test('logs paths without their queries', async () => {
    await send({ path: '/mcp?token=hidden', headers: { 'x-request-id': 'logged-1' } });
    const line = await waitFor(
      () =>
        gateway
          .log()
          .split('\n')
          .find((one) => one.includes('"logged-1"')),
      {
        what: 'the line of the request',
      },
    );
    expect(JSON.parse(line)).toMatchObject({
      requestId: 'logged-1',
      method: 'GET',
      path: '/mcp',
      status: '200',
    });
    toBreak = 9;
    expect((await send({ path: '/mcp?token=hidden' })).status).toBe(502);
    toBreak = 0;
    expect(gateway.log() + gateway.errors()).not.toContain('hidden');
  });

  test('retries a read once when its only replica disconnects, and never a write', async () => {
    toBreak = 1;
    expect((await send({})).status).toBe(200);
    toBreak = 1;
    expect((await send({ method: 'POST' })).status).toBe(502);
    toBreak = 2;
    expect((await send({})).status).toBe(502);
    expect(toBreak).toBe(0);
  });

  // nginx takes it for the end, so that it judges the request behind it, too.
  const { 'a last chunk that ends by a bare LF': lastByBareLf = '', ...messages } = ambiguousMessages;

  test('OPS-55: of a last chunk that ends by a bare LF, the request behind it is judged', async () => {
    const hidden = lastByBareLf.replace('/mcp/smuggled', '/api/v1/mail/internal');
    expect(hidden).not.toBe(lastByBareLf);
    expect(await sendRaw(hidden)).toContain(' 404 ');
    expect(targets).toEqual(['/mcp/first']);
  });

  test.each(Object.entries(messages))(
    'OPS-55: of %s, a service gets one request or none',
    async (_what, message) => {
      expect(await findMisreading(gateway.port, message, () => targets)).toBeUndefined();
    },
  );

  test('forwards a method that only the service can judge', async () => {
    expect((await send({ method: 'PROPFIND' })).body.method).toBe('PROPFIND');
  });

  // oxfmt-ignore
  test.each([
    ['what is not HTTP', 'NONSENSE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two Host headers', 'GET /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'BAD_REQUEST'],
    ['no Host header', 'GET /mcp HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['HTTP/1.0 with chunks', 'POST /mcp HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two lengths', 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400, 'BAD_REQUEST'],
    ['TRACE', 'TRACE /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['headers that are too large', `GET /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ])('rejects %s in the common error format, with a request id', async (_what, bytes, status, code) => {
    const answer = await sendRaw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code } });
    expect(/\r\nallow: \S+/i.test(answer)).toBe(status === 405);
  });
});
