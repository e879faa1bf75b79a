import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describeWith, testKafka, waitFor } from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import { type Connector, createSyncEvent, toKafkaMessage } from '../src/index.js';
import { createTopic, newTopic } from './support/topic.js';

const packageDir = join(import.meta.dirname, '..');

describeWith('kafka', 'the program for Kafka in the README of the npm package', () => {
  test('the documented consumer drops duplicates, passes over what is no event, and stops on request', async () => {
    const { brokers } = await testKafka();
    const topic = newTopic();
    await createTopic(brokers, { topic, numPartitions: 1 });
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const create = (connector: Connector) => createSyncEvent({ orgId: 'org-1', connector, now: Date.now() });
    const [first, second] = [create('files_2'), create('code_1')];
    const repeated = toKafkaMessage(first);
    const strange = [{ value: 'oops' }, { key: 'org-1:code_1', value: null }];
    await producer.send({ topic, messages: [repeated, repeated, ...strange, toKafkaMessage(second)] });
    await producer.disconnect();

    const readme = readFileSync(join(packageDir, '../release/npm/events/README.md'), 'utf8');
    const program = /```js\n(import \{ createMessageHandler.*?)```/s.exec(readme)?.[1] ?? '';
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: packageDir,
      env: { ...process.env, KAFKA_BROKERS: brokers.join(','), GROUP_ID: topic, TOPIC: topic },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
      await waitFor(() => lines.some((line) => line.includes(second.eventId)), { what: 'the last event' });
      expect(lines).toEqual([
        `SyncFiles2Event of org-1: index files_2 (${first.eventId})`,
        `SyncCode1Event of org-1: index code_1 (${second.eventId})`,
      ]);
      child.kill('SIGTERM');
      await expect(once(child, 'exit')).resolves.toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
