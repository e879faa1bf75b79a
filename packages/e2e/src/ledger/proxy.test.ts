import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Proxy, startProxy } from './proxy.js';

let server: Server;
let proxy: Proxy;
const atServer: Socket[] = [];
const clients: Socket[] = [];

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    atServer.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy = await startProxy((server.address() as { port: number }).port);
});
afterEach(async () => {
  for (const socket of [...clients.splice(0), ...atServer.splice(0)]) socket.destroy();
  await proxy.close();
  server.close();
});

async function open(): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
const closing = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
async function exchange(socket: Socket, message: string): Promise<string> {
  const answer = once(socket, 'data');
  socket.write(message);
  return String((await answer)[0]);
}

test('OPS-42 passes bytes and the end of each direction on', async () => {
  const socket = await open();
  expect(await exchange(socket, 'hello')).toBe('hello');
  socket.end('x'.repeat(1_000_000));
  expect(await text(socket)).toHaveLength(1_000_000);
});

test('OPS-42 a slow connection delays each chunk, in both directions, and keeps their order', async () => {
  const socket = await open();
  proxy.slowDown(50);
  const startedAt = performance.now();
  expect(await exchange(socket, 'first')).toBe('first');
  expect(performance.now() - startedAt).toBeGreaterThan(95);
  socket.write('a');
  await delay(10);
  socket.end('b');
  expect(await text(socket)).toBe('ab');
});

test('OPS-42 a cut resets both ends, and the next connection works', async () => {
  const socket = await open();
  await exchange(socket, 'hello');
  const closed = [socket, atServer[0] as Socket].map(closing);
  const reset = once(socket, 'error');
  proxy.cut();
  expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' });
  await Promise.all(closed);
  expect(await exchange(await open(), 'again')).toBe('again');
});

test('OPS-42 a half-open connection takes bytes that go nowhere, without an end or a reset, until it is mended', async () => {
  const socket = await open();
  await exchange(socket, 'hello');
  proxy.halfOpen();
  const late = await open();
  const got: unknown[] = [];
  for (const one of [socket, late])
    for (const event of ['data', 'end', 'error'] as const) one.on(event, (what) => got.push([event, what]));
  for (const one of [socket, late]) one.write('lost');
  atServer[0]?.end();
  await delay(200);
  expect(got).toEqual([]);
  const resets = [socket, late].map(closing);
  proxy.mend();
  await Promise.all(resets);
  expect(await exchange(await open(), 'again')).toBe('again');
});
