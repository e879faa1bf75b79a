import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch, waitFor } from '@platform/testing';

// Runs the built package, because a separate process cannot use Jest's transform.
const fixture = (name: string): string => join(import.meta.dirname, 'fixtures', name);
let child: ChildProcess;
let output: string;

// oxfmt-ignore
async function start(env: NodeJS.ProcessEnv = {}, stdio: ('ipc' | 'ignore')[] = [], program = 'serve.mjs'): Promise<Promise<unknown[]>[]> {
  output = '';
  child = spawn(process.execPath, [fixture(program)], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', ...stdio] });
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
const getPort = () => Number(/serving (\d+)/.exec(output)?.[1]);

/** Connects and sends these bytes. @returns the socket, and all that the server answers. */
function send(bytes: string) {
  const socket = connect(getPort(), '127.0.0.1').setEncoding('utf8');
  if (bytes !== '') socket.write(bytes);
  return { socket, answer: text(socket).catch((error: Error) => error.message) };
}
const head = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 21\r\n';

test('answers what has begun on SIGTERM, waits for no client that sends no more, and exits with 0', async () => {
  const [closed] = await start();
  const inProgress = fetch(`http://127.0.0.1:${getPort()}/slow`);
  const silent = send('');
  const halfHead = send(head);
  const halfBody = send(`${head}\r\n{"half":`);
  const halfStream = send(`${head.replace('application/json', 'text/plain')}\r\nhalf`);
  const slowBody = send(`${head}\r\n{"all":"`);
  const gone = send('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2));
  await waitFor(() => output.split('asked').length === 4, { what: 'the requests' });
  gone.socket.destroy();
  // A probe that follows is answered, so what was sent before has been read.
  await fetch(`http://127.0.0.1:${getPort()}/health/live`);
  const stopwatch = startStopwatch();
  child.kill('SIGTERM');
  for (const part of ['s', 'l', 'o', 'w', 'l', 'y', ' sent"}']) {
    await delay(700);
    slowBody.socket.write(part);
  }
  expect(await (await inProgress).text()).toBe('answered');
  expect(await slowBody.answer).toMatch(/^HTTP\/1\.1 200 [^]*\{"all":"slowly sent"\}$/);
  expect(await halfHead.answer).toMatch(/^(?:|.*ECONNRESET.*)$/);
  for (const { answer } of [halfBody, halfStream]) expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(await silent.answer).toMatch(/^(?:|.*ECONNRESET.*)$/);
  expect(await closed).toEqual([0, null]);
  expect(stopwatch.stop()).toBeLessThan(20_000);
  expect(output).toContain('shut down');
  expect(output).not.toContain('shutdown step failed');
});

test('answers the requests of connections that wait to be accepted when a busy process closes its listener', async () => {
  const [closed] = await start({}, [], 'connect-while-closing.mjs');
  child.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);
  expect(output).toContain(`statuses: ${Array(10).fill('200').join(' ')}\n`);
  expect(output).not.toContain('shutdown step failed');
});

test('keeps serving on SIGINT while it is not ready, and closes the connection with each response', async () => {
  const [closed] = await start({ SHUTDOWN_DELAY_MS: '2000' });
  const port = getPort();
  const agent = new Agent({ keepAlive: true });
  const ask = async (of?: Agent) => {
    const [response] = (await once(get({ port, path: '/health/live', agent: of }), 'response')) as [
      IncomingMessage,
    ];
    await response.toArray();
    return response.headers.connection;
  };
  expect(await ask(agent)).toBe('keep-alive');
  child.kill('SIGINT');
  await waitFor(() => output.includes('shutting down'), { what: 'the shutdown' });
  expect(await ask(agent)).toBe('close');
  expect(await ask(new Agent({ keepAlive: true }))).toBe('close');
  expect(await closed).toEqual([0, null]);
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
