import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch, waitFor } from '@platform/testing';

// Runs the built package, because a separate process cannot use Jest's transform.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'serve.mjs');
let child: ChildProcess;
let output: string;

// prettier-ignore
async function start(env: NodeJS.ProcessEnv, stdio: ('ipc' | 'ignore')[] = []): Promise<Promise<unknown[]>[]> {
  output = '';
  child = spawn(process.execPath, [FIXTURE], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', ...stdio] });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  // Node does not emit `close` while a channel that this side has closed remains.
  const closed = once(child, stdio.length > 0 ? 'exit' : 'close');
  await waitFor(() => output.includes('serving'), { what: 'the start' });
  // The promise is in a list so that it is not awaited here.
  return [closed];
}
afterEach(() => {
  child.kill('SIGKILL');
});

test.each(['SIGTERM', 'SIGINT'] as const)('shuts down in order and exits with 0 on %s', async (signal) => {
  const [closed] = await start({});
  child.kill(signal);
  expect(await closed).toEqual([0, null]);
  expect(output).toContain('shut down');
});

test('answers a request in progress, and does not wait for its kept-alive connection', async () => {
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

test('keeps serving while it is not ready, and closes the connection with each response', async () => {
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

test('does not wait for a connection that has sent nothing', async () => {
  const [closed] = await start({});
  const socket = connect(Number(/serving (\d+)/.exec(output)?.[1]), '127.0.0.1');
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  child.kill('SIGTERM');
  await ended;
  expect(await closed).toEqual([0, null]);
  expect(output).not.toContain('shutdown step failed');
});

test('a pipelined request of a disconnected client delays nothing', async () => {
  const [closed] = await start({});
  const port = Number(/serving (\d+)/.exec(output)?.[1]);
  const silent = connect(port, '127.0.0.1');
  const gone = connect(port, '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(gone, 'connect')]);
  gone.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2));
  await waitFor(() => output.split('asked').length === 3, { what: 'both requests' });
  gone.destroy();
  const ended = once(silent, 'close');
  const stopwatch = startStopwatch();
  child.kill('SIGTERM');
  await ended;
  expect(await closed).toEqual([0, null]);
  expect(stopwatch.stop()).toBeLessThan(10_000);
});

const head = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 21\r\n';

/** Sends the first part of a request, then the signal, then the other parts, a second apart. */
async function sendSlowly(first: string, rest: readonly string[] = []): Promise<[string, unknown]> {
  const [closed] = await start({});
  const socket = connect(Number(/serving (\d+)/.exec(output)?.[1]), '127.0.0.1');
  socket.write(first);
  const answer = text(socket).catch((error: Error) => error.message);
  // A probe that follows it is answered, so the first part has been read.
  await fetch(`http://127.0.0.1:${/serving (\d+)/.exec(output)?.[1]}/health/live`);
  child.kill('SIGTERM');
  for (const part of rest) {
    await delay(1_000);
    socket.write(part);
  }
  return [await answer, await closed];
}

// prettier-ignore
test.each([
  ['head', head, /^(?:|.*ECONNRESET.*)$/],
  ['body', `${head}\r\n{"half":`, /^HTTP\/1\.1 408 /],
  ['body that is iterated', `${head.replace('application/json', 'text/plain')}\r\nhalf`, /^HTTP\/1\.1 408 /],
])('does not wait for a %s that is never completed', async (_part, half, expected) => {
  const [answer, ended] = await sendSlowly(half);
  expect(answer).toMatch(expected);
  expect(ended).toEqual([0, null]);
  expect(output).not.toContain('shutdown step failed');
});

test('waits for a slow body and answers it', async () => {
  const [answer, ended] = await sendSlowly(`${head}\r\n{"all":"`, ['s', 'l', 'o', 'w', 'l', 'y', ' sent"}']);
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\{"all":"slowly sent"\}$/);
  expect(ended).toEqual([0, null]);
});

test('exits at once and not with 0 on a second signal', async () => {
  const [closed] = await start({ STEP_MS: '60000' });
  child.kill('SIGTERM');
  await waitFor(() => output.includes('shutting down'), { what: 'the shutdown' });
  child.kill('SIGTERM');
  expect(await closed).toEqual([130, null]);
  expect(output).not.toContain('"shut down"');
});

test('exits when its launcher exits', async () => {
  const [closed] = await start({}, ['ipc']);
  child.disconnect();
  expect(await closed).toEqual([0, null]);
});

test('logs an uncaught error, shuts down in order and exits with 1', async () => {
  const [closed] = await start({ FAIL: 'yes' });
  expect(await closed).toEqual([1, null]);
  expect(output).toContain('out of the blue');
  expect(output).toContain('shut down');
});
