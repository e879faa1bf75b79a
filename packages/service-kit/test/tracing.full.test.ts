import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { waitFor } from '@platform/testing';
import { VERSION } from '../src/index.js';

// Runs the built package, because the SDK does not run inside Jest.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'trace.mjs');

describe('a traced process', () => {
  let collector: Server;
  let status = 200;
  const received: string[] = [];
  let folder: string;
  let child: ChildProcess;
  let output = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tracing-'));
    collector = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(body);
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
  });
  beforeEach(() => {
    status = 200;
    received.length = 0;
  });
  afterEach(() => child.kill('SIGKILL'));
  afterAll(() => {
    collector.close();
    collector.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  function start(env: NodeJS.ProcessEnv): void {
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const own = {
      PATH: process.env.PATH,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
    output = '';
    child = spawn(process.execPath, [FIXTURE], {
      env: { ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const spans = (count: number) =>
    waitFor(() => output.includes(`span ${count}\n`), { what: `${count} spans` });
  async function stop(): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  }

  function fileWith(name: string, content: string): string {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  }

  test('reads its resource attributes from a file, and prefers its configured name to one among them', async () => {
    const attributes = 'deployment.environment.name=a%20b,service.name=other,team=x\n';
    start({
      OTEL_SERVICE_NAME: 'renamed',
      OTEL_RESOURCE_ATTRIBUTES_FILE: fileWith('attributes', attributes),
    });
    await waitFor(() => received.length > 0, { what: 'spans' });
    await stop();
    const { resource } = JSON.parse(received[0] ?? '').resourceSpans[0];
    const read = (resource.attributes as { key: string; value: { stringValue?: string } }[]).map(
      ({ key, value }) => [key, value.stringValue],
    );
    expect(read).toEqual(
      expect.arrayContaining([
        ['deployment.environment.name', 'a b'],
        ['team', 'x'],
        ['service.version', VERSION],
        ['service.instance.id', `${hostname()}/${child.pid}`],
      ]),
    );
    expect(read.filter(([key]) => key === 'service.name')).toEqual([['service.name', 'renamed']]);
  });

  test('records nothing when tracing is disabled', async () => {
    start({ OTEL_SDK_DISABLED: 'True' });
    await spans(20);
    await stop();
    expect(received).toEqual([]);
  });

  test('reads its sampling ratio from a file', async () => {
    start({
      OTEL_TRACES_SAMPLER_FILE: fileWith('sampler', 'parentbased_traceidratio\n'),
      OTEL_TRACES_SAMPLER_ARG_FILE: fileWith('ratio', '0\n'),
    });
    await spans(20);
    await stop();
    expect(received).toEqual([]);
  });

  test('warns once that the collector rejects spans, continues, and exits with 0', async () => {
    status = 401;
    start({});
    await waitFor(() => received.length > 4, { what: 'tries' });
    await stop();
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'warn', msg: 'traces are lost: the collector does not accept them' }),
    ]);
  });
});
