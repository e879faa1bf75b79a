import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describeWith, ensurePythonKafka, findKafkaJars, testKafka, waitFor } from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import { factExamples } from '../src/facts/contracts.js';
import { createSyncEvent, type FactType, factTypes, toKafkaMessage } from '../src/index.js';
import { toFactMessage } from '../src/kafka-message.js';
import { createTopic, newTopic } from './support/topic.js';

/* The consumers in docs/connect/events.md, each of which prints id, type, source and data. */

const page = readFileSync(join(import.meta.dirname, '../../../docs/connect/events.md'), 'utf8');
const getProgram = (mark: string): string =>
  Array.from(page.matchAll(/```\w+\n(.*?)```/gs), ([, text = '']) => text).find((text) =>
    text.includes(mark),
  ) ?? '';

/** Publishes an example of each fact, and a sync event. @returns the topic and what consumers have to print. */
async function publish(brokers: string[]) {
  const topic = newTopic();
  await createTopic(brokers, { topic, numPartitions: 1 });
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const facts = (Object.keys(factTypes) as FactType[]).map((type) => factExamples[type]);
  const event = createSyncEvent({ orgId: 'org-1', connector: 'wiki_1', now: Date.now() });
  const messages = [...facts.map((fact) => toFactMessage(JSON.stringify(fact))), toKafkaMessage(event)];
  await producer.send({ topic, messages });
  await producer.disconnect();
  const source = '/organisations/org-1/connectors/wiki_1';
  const wanted = [
    ...facts.map((fact) => [fact.id, fact.type, fact.source, fact.data]),
    [event.eventId, event.eventType, source, event],
  ];
  return { topic, wanted };
}

/** Runs a consumer until it has printed as many lines as are wanted. @returns what it has read, and what it should have. */
async function consume(command: readonly string[]) {
  const { brokers } = await testKafka();
  const { topic, wanted } = await publish(brokers);
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, KAFKA_BROKERS: brokers.join(','), GROUP_ID: topic, TOPIC: topic },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await waitFor(() => lines.length === wanted.length, { what: 'what was published' });
    const read = lines.map((line) => {
      const [id, type, source, ...data] = line.split(' ');
      return [id, type, source, JSON.parse(data.join(' ')) as unknown];
    });
    return { read, wanted };
  } finally {
    child.kill('SIGKILL');
  }
}

describeWith('kafka', 'consumers of others', () => {
  describeWith('python-kafka', 'of Python', () => {
    test.each([
      ['confluent-kafka with the SDK of CloudEvents', 'from confluent_kafka'],
      ['kafka-python', 'from kafka import'],
    ])('EVT-37 %s reads each fact, and sync events, whole', async (_client, mark) => {
      const { read, wanted } = await consume([await ensurePythonKafka(), '-c', getProgram(mark)]);
      expect(read).toEqual(wanted);
    });
  });

  describeWith('own-kafka', 'of Java', () => {
    test('EVT-37 the client of Kafka itself reads each fact, and sync events, whole', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'platform-java-consumer-'));
      try {
        const path = ['-cp', join(await findKafkaJars(), '*')];
        await writeFile(join(folder, 'Facts.java'), getProgram('class Facts'));
        await promisify(execFile)('javac', [...path, 'Facts.java'], { cwd: folder });
        const { read, wanted } = await consume(['java', '-cp', `${path[1]}:${folder}`, 'Facts']);
        expect(read).toEqual(wanted);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
});
