import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type App, createApp, createLogger, standardErrors, VERSION } from '../src/index.js';

const STALL_MS = 300;
const TOTAL_MS = 900;

let app: App;
beforeAll(async () => {
  ({ app } = await createApp({
    service: 'test',
    title: 'Test',
    description: 'Test',
    errors: standardErrors,
    log: createLogger('test', 'silent'),
    commit: '0123456789abcdef',
    bodyTimeouts: { stallMs: STALL_MS, totalMs: TOTAL_MS },
  }));
  app.post('/echo', (request) => ({ body: request.body }));
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

test('OPS-3 /health says which version runs, built from which commit', async () => {
  expect((await app.inject('/health')).json()).toEqual({
    status: 'live',
    version: VERSION,
    commit: '0123456789abcdef',
  });
});

test('OPS-8 /metrics says which version runs, built from which commit', async () => {
  const { body } = await app.inject('/metrics');
  expect(body).toContain(
    `platform_build_info{version="${VERSION}",commit="0123456789abcdef",service="test"} 1`,
  );
});

function open(bytes: string): Socket {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  return socket;
}
const head = (headers: string) =>
  `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

test.each([
  ['a length', head('Content-Length: 20') + '{"a":'],
  ['chunks', head('Transfer-Encoding: chunked') + '5\r\n{"a":\r\n'],
])('answers 408 in the error format to a body with %s that stops', async (_what, bytes) => {
  const startedAt = performance.now();
  const answer = await text(open(bytes));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(STALL_MS);
  expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*\r\nx-request-id: \S+\r\n/);
  expect(answer).toMatch(/\r\nconnection: close\r\n/);
  expect(answer).toContain('{"error":{"code":"REQUEST_TIMEOUT","message":"Request timeout"}}');
});

test('answers 408 to a body that trickles when its time is over', async () => {
  const socket = open(head('Content-Length: 1000') + '{"a":"');
  const trickle = setInterval(() => socket.write('x'), STALL_MS / 3);
  // A write after the response would fail on a closed connection.
  socket.once('data', () => clearInterval(trickle));
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('accepts a body that pauses and continues', async () => {
  const socket = open(head('Content-Length: 7\r\nConnection: close') + '{"a":');
  setTimeout(() => socket.write('1}'), STALL_MS / 10);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*\{"body":\{"a":1\}\}$/);
});

test('a connection is used again after a response that did not wait for the body', async () => {
  const body = 'x'.repeat(1_000_000);
  const refused = `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  const next = 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  const statuses = (await text(open(refused + body + next))).match(/(?<=HTTP\/1\.1 )\d+/g);
  expect(statuses).toEqual(['415', '200']);
});

// oxfmt-ignore
test('leaves no timer and no error behind when a client disconnects in the middle of a body', async () => {
  const socket = open(head('Content-Length: 20') + '{"a":');
  await once(app.server, 'request');
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, STALL_MS * 2));
  expect(await text(open('GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ['two Host headers', 'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['the same Host twice', 'GET /health/live HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
  ['no Host header', 'GET /health/live HTTP/1.1\r\n\r\n'],
  ['chunks in HTTP/1.0', 'POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', head('Transfer-Encoding: chunked') + 'ZZ\r\n'],
])('answers 400 to a request with %s, and closes the connection', async (_what, bytes) => {
  const answer = await text(open(bytes));
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"BAD_REQUEST"/);
});
