import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, type SecuredKafka, startSecuredKafka, waitFor } from '@platform/testing';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.js';
import { type Platform, startPlatform } from './platform.js';

// Kafka is set up as the operations guide says, with TLS and an account.
describeWith('nginx', 'traces', () => {
  describeWith('own-redis', 'with Redis', () => {
    describeWith('own-kafka', 'and a Kafka that requires TLS and an account', () => {
      const topic = `sync-events-${randomUUID()}`;
      let folder: string;
      let secured: SecuredKafka;
      let receiver: OtlpReceiver;
      let platform: Platform;

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'platform-secrets-'));
        secured = await startSecuredKafka();
        await writeFile(join(folder, 'kafka-password'), `${secured.account.password}\n`);
        receiver = await startOtlpReceiver();
        platform = await startPlatform({
          replicas: 1,
          env: {
            OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
            OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=key%201',
            OTEL_BSP_SCHEDULE_DELAY: '200',
            LOG_LEVEL: 'debug',
          },
          envByService: {
            crawl: {
              KAFKA_BROKERS: secured.kafka.brokers,
              KAFKA_TOPIC: topic,
              KAFKA_PARTITIONS: '1',
              KAFKA_TLS: 'true',
              KAFKA_SASL_MECHANISM: 'scram-sha-512',
              KAFKA_SASL_USERNAME: secured.account.username,
              KAFKA_SASL_PASSWORD_FILE: join(folder, 'kafka-password'),
              NODE_EXTRA_CA_CERTS: secured.authorityFile,
            },
          },
        });
      });
      afterAll(async () => {
        await platform?.close();
        await receiver?.close();
        await secured?.close();
        await rm(folder, { recursive: true });
      });

      const traceId = randomBytes(16).toString('hex');
      const call = (path: string, body: unknown, headers: Record<string, string> = {}) =>
        fetch(platform.url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${platform.session}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
          body: JSON.stringify(body),
        });

      test('one trace spans the caller, identity, crawl, its stores, Kafka and the consumer', async () => {
        const relay = () => platform.replicas.crawl[0]?.output().includes('publishing events');
        await waitFor(relay, { what: 'the relay' });
        const consumer = startConsumer({
          BROKERS: secured.kafka.brokers,
          USERNAME: secured.account.username,
          PASSWORD: secured.account.password,
          NODE_EXTRA_CA_CERTS: secured.authorityFile,
          TOPIC: topic,
          GROUP: randomUUID(),
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        });
        const scheduleConfig = { scheduleType: 'daily', hour: 3, minute: 0 };
        const params = { name: 'schedule_crawl', arguments: { connector: 'wiki_1', scheduleConfig } };
        const createTraceparent = () => `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
        const traceparent = createTraceparent();
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        const answer = await call('/mcp', body, { traceparent });
        expect([answer.status, await answer.text()]).toEqual([
          200,
          expect.not.stringContaining('"isError":true'),
        ]);
        // A run of the schedule has no caller; a requested run belongs to the trace of its request.
        const run = '/api/v1/crawlingManager/wiki_1/run';
        expect((await call(run, {}, { traceparent: createTraceparent() })).status).toBe(202);
        await waitFor(() => consumer.output() !== '', { what: 'the event' });
        await consumer.stop();

        const ofTrace = () => receiver.spans.filter((span) => span.traceId === traceId);
        const find = (service: string, isIt: (span: (typeof receiver.spans)[number]) => boolean) =>
          ofTrace().find((span) => span.service === service && isIt(span));
        const expected = {
          request: () => find('identity', ({ name }) => name === 'POST /mcp'),
          'tool call': () => find('identity', ({ name }) => name === 'tools/call schedule_crawl'),
          'question to PostgreSQL': () => find('identity', ({ attributes }) => isPostgres(attributes)),
          'request of crawl': () => find('crawl', ({ name }) => name.includes('/schedule')),
          'statement of crawl': () => find('crawl', ({ attributes }) => isPostgres(attributes)),
          'command to Redis': () =>
            find('crawl', ({ attributes }) => attributes['db.system.name'] === 'redis'),
          run: () => find('crawl', ({ name }) => name === 'crawl'),
          publication: () => find('crawl', ({ name }) => name === `send ${topic}`),
          'handled event': () => find('consumer', ({ name }) => name === `process ${topic}`),
        };
        await waitFor(() => Object.values(expected).every((one) => one()), {
          what: 'every span',
        }).catch(() => undefined);
        const missing = Object.entries(expected).filter(([, one]) => !one());
        expect([missing.map(([name]) => name), missing.length > 0 ? ofTrace() : []]).toEqual([[], []]);
        // Each span is a child of the previous one.
        expect(expected['handled event']()?.parentSpanId).toBe(expected.publication()?.spanId);
        expect(expected.publication()?.parentSpanId).toBe(expected.run()?.spanId);
        expect(expected['tool call']()).toMatchObject({
          parentSpanId: expected.request()?.spanId,
          attributes: {
            'mcp.method.name': 'tools/call',
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'schedule_crawl',
            'network.transport': 'tcp',
          },
        });
        expect(receiver.keys).toContain('key 1');
      });

      test('OPS-8 the polls of the signing keys are not traced', () => {
        expect(receiver.spans.filter(({ name }) => name.includes('jwks'))).toEqual([]);
      });

      test('log lines contain the trace id, and no span contains a credential', () => {
        const output = platform.replicas.crawl[0]?.output() ?? '';
        const settled = output.split('\n').find((line) => line.includes('run settled'));
        expect(JSON.parse(settled ?? '{}')).toMatchObject({ trace_id: traceId, span_id: expect.any(String) });
        const sent = JSON.stringify(receiver.spans);
        expect(sent).not.toContain(platform.session);
        expect(sent).not.toMatch(/eyJ|a-good-password|ssssssss/);
      });
    });
  });
});

/** Starts a consumer in a separate process, because the SDK does not run inside Jest. */
function startConsumer(env: Record<string, string>): { output(): string; stop(): Promise<void> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../fixtures/consume.mjs')], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const isPostgres = (attributes: Readonly<Record<string, unknown>>): boolean =>
  [attributes['db.system'], attributes['db.system.name']].includes('postgresql');
