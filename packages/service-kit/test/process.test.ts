import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch, waitFor } from '@platform/testing';

// Runs the built package: a process of its own can't be Jest's.
const FIXTURE = join(__dirname, 'fixtures', 'serve.mjs');
let child: ChildProcess;
let output: string;

async function start(env: NodeJS.ProcessEnv, stdio: ('ipc' | 'ignore')[] = []): Promise<Promise<unknown[]>[]> {
  output = '';
  child = spawn(process.execPath, [FIXTURE], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', ...stdio] });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  // A channel that this side has closed keeps Node from telling `close`.
  const closed = once(child, stdio.length > 0 ? 'exit' : 'close');
  await waitFor(() => output.includes('serving'), { what: 'the start' });
  // In a list, so that it isn't awaited here.
  return [closed];
} // prettier-ignore
afterEach(() => {
  child.kill('SIGKILL');
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends in order with 0', async (signal) => {
  const [closed] = await start({});
  child.kill(signal);
  expect(await closed).toEqual([0, null]);
  expect(output).toContain('shut down');
});

test('a request under way is answered, and its kept-alive connection holds nothing up', async () => {
  const [closed] = await start({});
  const port = /serving (\d+)/.exec(output)?.[1] ?? '';
  const answer = fetch(`http://127.0.0.1:${port}/slow`);
  await waitFor(() => output.includes('asked'), { what: 'the request' });
  const stopwatch = startStopwatch();
  child.kill('SIGTERM');
  expect(await (await answer).text()).toBe('answered');
  expect(await closed).toEqual([0, null]);
  expect(stopwatch.stop()).toBeLessThan(5_000);
});

test('while it is not ready it serves on, and each response closes its connection', async () => {
  const [closed] = await start({ SHUTDOWN_DELAY_MS: '2000' });
  const port = Number(/serving (\d+)/.exec(output)?.[1]);
  const agent = new Agent({ keepAlive: true });
  const ask = async (of?: Agent) => {
    const [response] = (await once(get({ port, path: '/health/live', agent: of }), 'response')) as [
      IncomingMessage,
    ];
    await response.toArray();
    return response.headers.connection;
  };
  expect(await ask(agent)).toBe('keep-alive');
  child.kill('SIGTERM');
  await waitFor(() => output.includes('shutting down'), { what: 'the shutdown' });
  expect(await ask(agent)).toBe('close');
  expect(await ask(new Agent({ keepAlive: true }))).toBe('close');
  expect(await closed).toEqual([0, null]);
});

test('a connection that has never said anything holds nothing up', async () => {
  const [closed] = await start({});
  const socket = connect(Number(/serving (\d+)/.exec(output)?.[1]), '127.0.0.1');
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  child.kill('SIGTERM');
  await ended;
  expect(await closed).toEqual([0, null]);
  expect(output).not.toContain('shutdown step failed');
});

const head = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 21\r\n';

/** Sends the first part of a request, the signal, and the rest of the parts, a second between them. */
async function sendSlowly(first: string, rest: readonly string[] = []): Promise<[string, unknown]> {
  const [closed] = await start({});
  const socket = connect(Number(/serving (\d+)/.exec(output)?.[1]), '127.0.0.1');
  socket.write(first);
  const answer = text(socket).catch((error: Error) => error.message);
  // What it has sent is read: a probe behind it is answered.
  await fetch(`http://127.0.0.1:${/serving (\d+)/.exec(output)?.[1]}/health/live`);
  child.kill('SIGTERM');
  for (const part of rest) {
    await delay(1_000);
    socket.write(part);
  }
  return [await answer, await closed];
}

test.each([
  ['head', head, /^(?:|.*ECONNRESET.*)$/],
  ['body', `${head}\r\n{"half":`, /^HTTP\/1\.1 408 /],
  ['body that is iterated', `${head.replace('application/json', 'text/plain')}\r\nhalf`, /^HTTP\/1\.1 408 /],
])('a %s that stands still, half sent, holds nothing up', async (_part, half, expected) => {
  const [answer, ended] = await sendSlowly(half);
  expect(answer).toMatch(expected);
  expect(ended).toEqual([0, null]);
  expect(output).not.toContain('shutdown step failed');
}); // prettier-ignore

test('a body that comes slowly is waited for, and answered', async () => {
  const [answer, ended] = await sendSlowly(`${head}\r\n{"all":"`, ['s', 'l', 'o', 'w', 'l', 'y', ' sent"}']);
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\{"all":"slowly sent"\}$/);
  expect(ended).toEqual([0, null]);
});

test('a second signal ends at once, without 0', async () => {
  const [closed] = await start({ STEP_MS: '60000' });
  child.kill('SIGTERM');
  await waitFor(() => output.includes('shutting down'), { what: 'the shutdown' });
  child.kill('SIGTERM');
  expect(await closed).toEqual([130, null]);
  expect(output).not.toContain('"shut down"');
});

test('a launcher that goes away takes the service with it', async () => {
  const [closed] = await start({}, ['ipc']);
  child.disconnect();
  expect(await closed).toEqual([0, null]);
});

test('an error that nobody caught is logged, and ends in order with 1', async () => {
  const [closed] = await start({ FAIL: 'yes' });
  expect(await closed).toEqual([1, null]);
  expect(output).toContain('out of the blue');
  expect(output).toContain('shut down');
});
